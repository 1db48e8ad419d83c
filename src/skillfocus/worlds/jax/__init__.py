"""Worlds with dynamics in JAX, which may be too large for a table."""
