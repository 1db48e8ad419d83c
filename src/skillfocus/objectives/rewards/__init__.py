"""Reward formulas of skill discovery algorithms, one file each."""
