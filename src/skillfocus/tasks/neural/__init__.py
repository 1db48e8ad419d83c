"""Downstream tasks of JAX worlds, learned by networks over skills and primitive actions."""
