"""Tables and claims on Mini-BEHAVIOR: what skills change, and the tasks learned over them."""

from __future__ import annotations

import polars as pl

from skillfocus.experiments.aims import aim_at_fewer, aim_at_least
from skillfocus.experiments.by_seed import (
    SeedValues,
    mean_over_seeds,
    values_by_seed,
)
from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.formatting import agent_name, format_mean
from skillfocus.experiments.presets import PRIMITIVES
from skillfocus.experiments.scale_cases import HOUSEHOLD_AGENTS, HOUSEHOLDS, MORE
from skillfocus.report.document import Table

SKILD = {
    "install-printer": 0.93, "thaw-olive": 0.22, "thaw-fish": 0.52, "thaw-date": 0.66,
    "soak-rag": 1.0, "clean-car": 0.17, "clean-rag": 0.04,
}  # fmt: skip
"""Success of SkiLD (Wang et al., NeurIPS 2024), read off its figure to about 0.02."""
TASK_AIMS: dict[str, float | None] = {
    "install-printer": 1.0, "thaw-olive": 0.9, "thaw-fish": 0.9, "thaw-date": 0.9, "thaw-all": None,
    "soak-rag": 1.0, "clean-car": 0.9, "clean-rag": 0.5,
}  # fmt: skip
"""Success to aim at by task; None for a task that is not SkiLD's."""
SKILL_AIMS = {"car_stain": 0.9, "bucket_soaped": 0.9}
"""How often the best skill should change a variable from the benchmark's first state."""
HOUSEHOLD_VARIANTS = [(world, variant) for world in HOUSEHOLDS for variant in ("", MORE)]
LISTED = 0.05
"""Smallest share of rollouts with which another variable's change is listed."""
SHORT_OF_ONE = 0.005
"""Tolerance of aims at a success rate of 1."""


def household_skills(frame: pl.DataFrame) -> Analysis:
    """Compare what skills change from varied starts, and their side effects with DUSDi's."""
    claims, rows = [], []
    for world, variant in HOUSEHOLD_VARIANTS:
        effects: dict[str, SeedValues] = {}
        for agent in HOUSEHOLD_AGENTS:
            role = "any" if agent == "vic" else "goal"
            effects[agent] = values_by_seed(frame, f"{role}/side_effects", world, agent, variant)
            if not effects[agent]:
                continue
            changes = values_by_seed(frame, "goal/control", world, agent, variant)
            rows.append(
                [
                    world, agent_name(agent), variant, format_mean(changes, 3, 0, 1),
                    format_mean(effects[agent], 3), str(len(effects[agent])),
                ]
            )  # fmt: skip
        claims += aim_at_fewer(
            _claim_name(f"scale-effects-{world}", variant),
            _statement(f"{world}: side effects, focused minus DUSDi's skills", variant),
            effects["focused-vic"], effects["dusdi-vic"],
        )  # fmt: skip
    columns = [
        "world", "skills", "variant", "a variable's best skill changes it", "side effects", "seeds",
    ]  # fmt: skip
    note = (
        "From varied starts, in some of which a variable cannot change; means over all variables "
        "but the agent's position. Side effects: how many other variables change, including "
        "unavoidable ones."
    )
    return Analysis(claims, [Table("What skills change in Mini-BEHAVIOR", columns, rows, note)])


def first_state(frame: pl.DataFrame) -> Analysis:
    """Tabulate what each variable's best skill changes, from the benchmark's first state."""
    claims, rows = [], []
    for world, variant in HOUSEHOLD_VARIANTS:
        here = (pl.col("world") == world) & (pl.col("variant") == variant)
        metrics = frame.filter(here)["metric"].unique().to_list()
        targets = {name.split("/")[1] for name in metrics if name.startswith("first/")}
        for target in sorted(targets):
            row, seeds = [world, variant, f"`{target}`"], 0
            for agent in ("focused-vic", "dusdi-vic"):
                changes = values_by_seed(frame, f"first/{target}/changes", world, agent, variant)
                prefix = f"first/{target}/also/"
                also = {
                    name.removeprefix(prefix): mean_over_seeds(values).estimate
                    for name in sorted(metrics)
                    if name.startswith(prefix)
                    and (values := values_by_seed(frame, name, world, agent, variant))
                }
                listed = ", ".join(
                    f"`{name}` {share:.2f}" for name, share in also.items() if share >= LISTED
                )
                row += [format_mean(changes, 2, 0, 1), listed or "–"]
                seeds = max(seeds, len(changes))
                if agent == "focused-vic" and changes and target in SKILL_AIMS:
                    name = _claim_name(f"scale-first-{target}", variant)
                    statement = _statement(
                        f"{world}: `{target}` changes from the first state", variant
                    )
                    claims.append(aim_at_least(name, statement, SKILL_AIMS[target], changes))
            rows.append([*row, str(seeds)])
    columns = [
        "world", "variant", "variable", "focused VIC changes it", "also changed",
        "DUSDi VIC changes it", "also changed", "seeds",
    ]  # fmt: skip
    note = (
        "Each variable's best skill, from the first state of the benchmark's episodes. Also "
        "changed: other variables that differ at the end, as shares of the rollouts that change "
        f"the variable; shares below {LISTED:g} are left out."
    )
    return Analysis(claims, [Table("From Mini-BEHAVIOR's first state", columns, rows, note)])


def household_tasks(frame: pl.DataFrame) -> Analysis:
    """Compare success in the benchmark's tasks with our aims and SkiLD's success."""
    claims, rows = [], []
    for task, aim in TASK_AIMS.items():
        known = f"{SKILD[task]:g}" if task in SKILD else "–"
        for world, variant in HOUSEHOLD_VARIANTS:
            for agent in (*HOUSEHOLD_AGENTS, PRIMITIVES):
                success, truly = (
                    values_by_seed(frame, f"{task}/{metric}", world, agent, variant)
                    for metric in ("success", "true_success")
                )
                if not success:
                    continue
                rows.append(
                    [
                        task, agent_name(agent), variant, format_mean(success, 3, 0, 1),
                        format_mean(truly, 3, 0, 1), known, str(len(success)),
                    ]
                )  # fmt: skip
                if agent == "focused-vic" and aim is not None:
                    statement = f"Mini-BEHAVIOR, {task}: success with focused skills"
                    least = aim - SHORT_OF_ONE if aim == 1 else aim
                    name = _claim_name(f"scale-{task}", variant)
                    claims.append(
                        aim_at_least(name, _statement(statement, variant), least, success)
                    )
    columns = ["task", "agent", "variant", "success", "true success", "SkiLD's success", "seeds"]
    note = (
        "The reward pays for success alone: the task's condition holds at some step. True success: "
        "it holds at the end, and so do the task's side conditions, such as a closed fridge. SkiLD "
        "(Wang et al., NeurIPS 2024): read off its figure to about 0.02."
    )
    return Analysis(claims, [Table("Tasks of Mini-BEHAVIOR", columns, rows, note)])


def _claim_name(name: str, variant: str) -> str:
    return f"{name}-more" if variant else name


def _statement(statement: str, variant: str) -> str:
    return f"{statement}, {variant}" if variant else statement
