"""Sweeps over settings: every point of a grid, or a search, on seeds kept apart for tuning."""
