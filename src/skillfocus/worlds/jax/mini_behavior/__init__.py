"""Chores on a grid: three worlds of Mini-BEHAVIOR, as SkiLD (Wang et al., 2024) uses them.

    InstallingAPrinter   put the printer on the table and switch it on
    ThawingFrozenFood    take food from the fridge and thaw it in the sink
    CleaningACar         soak a rag, wipe the car, wash the rag in a soaped bucket

All three are deterministic. `tasks.py` has the benchmark's tasks. With 1,024 parallel environments,
two CPU cores take 20 to 35 million steps per second.
"""
