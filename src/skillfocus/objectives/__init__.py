"""Objectives: what skills are rewarded for."""
