"""Downstream tasks in JAX worlds, learned by networks over skills and primitive actions."""
