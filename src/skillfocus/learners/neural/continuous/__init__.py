"""Skill discovery in continuous worlds by policy gradients, in JAX."""
