"""Skills whose policies are networks."""
