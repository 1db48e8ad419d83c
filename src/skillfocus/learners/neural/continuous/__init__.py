"""Actors: skills of continuous worlds, learned by policy gradients in JAX."""
