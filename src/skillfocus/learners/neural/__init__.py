"""Learning skills with networks, in JAX: worlds too large for tables."""
