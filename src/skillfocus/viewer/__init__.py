"""Pictures of skills at work: pages, and states and rollouts that draw themselves."""
