"""Functions from an objective to an objective: focused, dusdi, scattered."""
