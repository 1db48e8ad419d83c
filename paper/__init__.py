"""The paper's experiments: what to run, what to conclude from it, and how to report it.

Every experiment is one module that exports one `Experiment`; `registry` lists them. `reproduction`
runs them and writes the report.
"""
