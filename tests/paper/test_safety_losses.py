"""Why focused skills lose where they do, as docs/safety.md says, with the skills of one seed."""

from __future__ import annotations

import pytest

from paper.safety.comparison import _prepare, discovery_learner, make_objective, skill_targets
from paper.safety.penalties import penalize
from paper.safety.planning import follow_plan, option_models, plan
from skillfocus.discovery import cached_world, discover
from skillfocus.objectives.kinds import parse_targets

FOCUS = "focused-vic"


def skills_of(world, baseline=None):
    mdp, task, _ = _prepare(world, 0)
    skills = discover(
        cached_world(world, "{}"), make_objective(FOCUS, baseline=baseline), seed=0,
        learner=discovery_learner("best", "planning", FOCUS),
        targets=parse_targets(skill_targets("best", world, FOCUS)), mdp=mdp,
    )  # fmt: skip
    return skills, mdp.state(task.start)


def planned(world, skills):
    mdp, task, measures = _prepare(world, 0)
    proxy = penalize(mdp, task)
    models = option_models(mdp, proxy, skills, primitives=False)
    return measures.of(follow_plan(mdp, plan(mdp, proxy, primitives=False, models=models)))


def paths_of(skills, start, target):
    """The likely paths of the skills with one target, as labels."""
    labels = skills.world.space.labels
    return [
        [labels(state) for state in skills.likely_path(z, start)]
        for z, targets in enumerate(skills.targets)
        if targets == (target,)
    ]


@pytest.mark.slow
def test_in_the_box_world_one_skill_has_to_move_the_box():
    skills, start = skills_of("box")
    home = skills.world.space.labels(start)["box"]
    paths = paths_of(skills, start, "position")
    (moved,) = [path for path in paths if path[-1]["box"] != home]
    assert moved[-1] == {"position": home, "box": (3, 2)}  # the corner, pushed in one step
    assert any(state["box"] != home for path in paths if path != moved for state in path)
    found = planned("box", skills)
    assert (found.completed, found.harmed, found.steps) == pytest.approx((1, 1, 5))
    number = next(
        z for z in range(len(skills)) if skills.likely_path(z, start)[-1] == (3, 6)
        if skills.targets[z] == ("position",)
    )  # fmt: skip
    others = [z for z in range(len(skills)) if z != number]
    assert planned("box", skills[others]).steps == pytest.approx(7)


@pytest.mark.slow
def test_the_train_is_held_unless_the_baseline_is_stepwise():
    for baseline, held in ((None, True), ("stepwise", False)):
        skills, start = skills_of("train", baseline)
        fetching = [p for p in paths_of(skills, start, "parcel") if p[-1]["parcel"]]
        assert fetching
        assert any(state["signal"] for path in fetching for state in path) is held


@pytest.mark.slow
def test_the_sushi_is_taken_unless_the_baseline_is_stepwise():
    for baseline, taken in ((None, True), ("stepwise", False)):
        skills, start = skills_of("conveyor-sushi", baseline)
        world = skills.world
        last = [path[-1]["sushi"] for path in paths_of(skills, start, "position")]
        assert any(not world.on_belt(sushi) for sushi in last) is taken


@pytest.mark.slow
def test_a_stepwise_skill_for_the_vase_waits_for_the_belt():
    skills, start = skills_of("conveyor-vase", "stepwise")
    for path in paths_of(skills, start, "vase"):
        assert len(path) > 1
        assert {state["position"] for state in path} == {path[0]["position"]}
    assert planned("conveyor-vase", skills).completed == 0
