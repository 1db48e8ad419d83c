"""`evaluate`: JSON records of what skills do, from files or from memory."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np

from skillfocus.core.seeds import check_seed
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.metrics.continuous import continuous_records
from skillfocus.metrics.coverage import check_countable
from skillfocus.metrics.coverage import coverage as measure_coverage
from skillfocus.metrics.summary import origin, skill_records
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.skills.skills import Skills
from skillfocus.skills.sources import SkillSource, list_sources, load_any, source_file
from skillfocus.worlds.registry import CONTINUOUS_WORLD_IDS, JAX_WORLD_IDS, WORLD_IDS


def evaluate(
    skills: SkillSource | Iterable[SkillSource],
    *,
    coverage: bool = False,
    sample: int | None = None,
    seed: int = 0,
    world: World | None = None,
    progress: Progress = no_progress,
) -> list[dict]:
    """Return what each skill changes, and optionally what chains of skills cover.

        evaluate("out/four-rooms.skills")[0]["skills"][0]["side_effects"]

    Args:
        skills: Sets of skills or files of them, one or several.
        coverage: Whether to measure the coverage of chains of 1 to 5 skills too.
        sample: Number of rollouts per skill; by default, values are exact where possible.
        seed: Seed of everything that is sampled.
        world: The world of the skills, for files that cannot name it.
        progress: Callback for the fraction done.

    Returns:
        One record per set: `world`, `objective`, `strength`, `learner`, `seed`, `file` (None for
        skills in memory), `skills` (see `summary.skill_records`), `unusual` if the world has
        settings that are not the default, and with `coverage` also `coverage`, `auc` and
        `coverage_exact`.

    Raises:
        UserError: If a file cannot be loaded `sample` is below 2, or `seed` is no seed.
    """
    if sample is not None and sample < 2:
        raise UserError(f"sample is {sample}; it must be at least 2")
    check_seed(seed)
    sources = list_sources(skills)
    records = []
    for number, source in enumerate(sources):
        loaded = load_any(source, world)
        if isinstance(loaded, ContinuousSkills):
            if coverage:
                raise UserError(
                    f"chains of skills are counted in finite worlds, and {loaded.world.id} has "
                    f"continuous variables: see metrics.continuous.coverage_by_variable"
                )
            records.append(
                {
                    **_about(loaded), "file": source_file(source),
                    "skills": continuous_records(loaded, sample or 256, seed),
                }
            )  # fmt: skip
            continue
        if coverage:
            check_countable(loaded)
        about, file = _about(loaded), source_file(source)
        name = file or f"{about['objective']}, seed {about['seed']}"
        first, last = number / len(sources), (number + 1 - coverage / 2) / len(sources)
        part = part_of(progress, first, last, name)
        record = {**about, "file": file, "skills": skill_records(loaded, sample, seed, part)}
        if coverage:
            progress(last, f"coverage of {name}")
            record |= measure_coverage(loaded, rng=np.random.default_rng(seed)).summary()
        records.append(record)
    progress(1.0, "done")
    return records


def _about(skills: Skills | ContinuousSkills) -> dict[str, object]:
    """Return where skills come from, and the settings of their world as `discover` shows them."""
    settings = _unusual_settings(skills.world)
    shown = {"world_settings": json.dumps(settings, sort_keys=True)}
    return {**origin(skills), **({"unusual": shown} if settings else {})}


def _unusual_settings(world: World) -> dict[str, object]:
    """Return a world's settings that are not the default, without maps, too long for titles."""
    defaults: dict[str, object] = {}
    known = {**WORLD_IDS, **JAX_WORLD_IDS, **CONTINUOUS_WORLD_IDS}.get(world.id)
    if known is not None and type(world) is known:
        defaults = known().settings
    return {
        name: value
        for name, value in world.settings.items()
        if not (name in defaults and defaults[name] == value)
        and not (isinstance(value, str) and "\n" in value)
    }
