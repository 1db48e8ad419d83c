"""Continuous worlds of DUSDi (Hu et al., NeurIPS 2024), following the rules of its public code.

    Gunner      a base, an arm with a gripper and a head that looks around
    Particles   ten agents that do not interact, each with a landmark

Both are deterministic. `tasks.py` has their downstream tasks.
"""
