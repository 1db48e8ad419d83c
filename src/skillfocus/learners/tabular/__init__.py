"""Learners on tabular MDPs: exact planning and Q-learning, compiled."""
