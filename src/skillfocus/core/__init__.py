"""The base of everything: variables, worlds, tabular MDPs, rollouts, contexts, progress."""
