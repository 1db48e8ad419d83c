"""Downstream tasks, and SMDP Q-learning to solve them with skills."""
