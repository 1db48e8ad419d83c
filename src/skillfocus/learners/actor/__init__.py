"""Actors for worlds with continuous actions."""
