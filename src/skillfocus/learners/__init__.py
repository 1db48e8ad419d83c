"""Learners: from a world and an objective to skills."""
