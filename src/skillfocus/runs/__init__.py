"""Runs: results that are computed once, stored, and found again by what decides them.

`run.py` defines a run, `discovery_run.py` the run behind `discover`. `store.py` is the protocol of
a store and `folder_store.py` the store in a folder. `scheduler.py` executes what a store lacks, on
an executor of `executors.py`; `job.py` puts store, executor and progress together.
"""
