"""The paper's experiments: a file each, with the cases to run and `analyze`."""

NAMES = (
    "trajectories", "coverage", "downstream", "underspecified", "ablation", "skill-count",
    "side-effects", "controls",
)  # fmt: skip
