"""Side effects as the safety literature penalizes and measures them (docs/safety.md)."""
