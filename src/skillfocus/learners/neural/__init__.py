"""Skill discovery with networks in JAX, for worlds too large for tables."""
