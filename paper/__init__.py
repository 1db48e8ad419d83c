"""The paper's experiments: what to run, what to conclude from it, and how to report it.

`EXPERIMENTS` in `__main__` lists the experiments, each an `Experiment` of a module here.
"""
