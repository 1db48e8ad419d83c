"""Worlds whose dynamics are JAX functions, for worlds too large for a table."""
