"""What pages simulate, in a real browser, against Python: runs, chains, agents and rewards."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from pages import READY, assert_shows, quick, view_without_effects
from skillfocus.metrics.coverage import sample_trees
from skillfocus.metrics.side_effects import side_effects
from skillfocus.rollout import Options, apply_action, mdp_arrays, reset_marks
from skillfocus.tasks.solving import Learning, episode, options_of, task_arrays, workspace_of
from skillfocus.viewer import payload
from skillfocus.viewer.page import write_page
from skillfocus.viewer.payload import choose_start_state

pytestmark = pytest.mark.slow
ROLLOUTS = 1000


def test_random_numbers_are_numpys(opened):
    for seed in (0, 7, 2**32 - 1, [7, 3], [1, 2, 3, 4, 5, 6]):
        drawn = opened.evaluate(
            "seed => { const r = new skillfocus.Random(seed);"
            " return Array.from({ length: 50 }, () => r.next()) }",
            seed,
        )
        assert drawn == np.random.default_rng(seed).random(50).tolist()


@pytest.mark.parametrize("large", [False, True])
def test_runs_are_pythons_state_for_state(page, sets, large, tmp_path, monkeypatch):
    """A thousand runs in each world, from anywhere: whole policies, and what is kept of large ones."""
    if large:
        monkeypatch.setattr(payload, "SMALL_POLICY", 0)
        monkeypatch.setattr(payload, "BYTE_BUDGET", 0)
    shown = [view_without_effects(skills) for skills in sets[:: 2 if large else 1]]
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page(shown, tmp_path / "p.html").as_uri())
    page.wait_for_selector(READY)
    rng = np.random.default_rng(0)
    for place, one in enumerate(shown):
        skills = one.skills
        columns = (len(skills), skills.mdp.n_states, 2**32)
        n = ROLLOUTS if large else ROLLOUTS // 2
        jobs = np.stack([rng.integers(most, size=n) for most in columns], axis=1)
        found = page.evaluate(
            """async ([place, jobs]) => {
              const set = skillfocus.model.sets[place];
              await set.readyAll();
              return jobs.map(([z, start, seed]) => skillfocus.runChain(set, [z], start, { seed }).states);
            }""",
            [place, jobs.tolist()],
        )
        assert not (large and "whole" in payload.policy_data(skills, 0))
        for (z, start, seed), states in zip(jobs.tolist(), found, strict=True):
            path = skills.rollout(z, skills.mdp.state(start), np.random.default_rng(seed))
            assert states == [skills.mdp.number(state) for state in path]


def test_without_slips_runs_are_the_likely_ones(page, sets, tmp_path):
    skills = sets[0]
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([view_without_effects(skills)], tmp_path / "p.html").as_uri())
    page.wait_for_selector(READY)
    page.get_by_label("moves slip").uncheck()
    for z in (0, 3, 12):
        page.locator(".chip").nth(z).click()
        page.keyboard.press("End")
        start = skills.mdp.state(choose_start_state(skills))
        assert_shows(page, skills, skills.likely_path(z, start))


def chained(skills, queue, start, rng):
    """A chain of skills in plain Python: hidden marks stay as they are from skill to skill."""
    mdp, arrays = skills.mdp, mdp_arrays(skills.mdp)
    marked = np.zeros(mdp.n_marks, np.uint8)
    reset_marks(mdp.marks_in, start, marked, rng)
    states = [start]
    for z in queue:
        policy, context = skills.policy_of(z), skills.contexts[z, states[-1]]
        for _ in range(skills.step_limit):
            action = policy[states[-1], context]
            if action == mdp.n_actions:
                break
            states.append(apply_action(arrays, states[-1], action, marked, rng.random())[0])
    return states


def test_chains_and_trees_are_pythons(page, sets, tmp_path):
    skills = sets[-1]
    assert skills.mdp.n_marks
    mdp = skills.mdp
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([view_without_effects(skills)], tmp_path / "p.html").as_uri())
    page.wait_for_selector(READY)
    rng = np.random.default_rng(1)
    for seed in range(100):
        queue, start = rng.integers(len(skills), size=4).tolist(), int(rng.integers(mdp.n_states))
        found = page.evaluate(
            """async ([queue, start, seed]) => {
              const [set] = skillfocus.model.sets;
              await set.readyAll();
              return skillfocus.runChain(set, queue, start, { seed }).states;
            }""",
            [queue, start, seed],
        )
        assert found == chained(skills, queue, start, np.random.default_rng(seed))
    grown = page.evaluate(
        """() => {
          const [set] = skillfocus.model.sets;
          const tree = new skillfocus.Tree(set, skillfocus.model.start, { seed: 5 }, 3);
          while (!tree.done) tree.step();
          return [tree.curve, tree.chains, tree.total];
        }"""
    )
    start = choose_start_state(skills)
    options = Options(mdp_arrays(mdp), skills.arrays, skills.step_limit)
    wanted = sample_trees(options, np.array([start]), 3, mdp.n_marks, np.random.default_rng(5))
    assert grown[0] == wanted[:, 0].tolist()
    assert grown[1] == grown[2] == 16 + 16**2 + 16**3


def test_agents_are_pythons(opened, rooms):
    """The agent's run is the greedy episode of `hierarchy`, for the values the page was told."""
    shown = rooms[0]
    mdp, q = shown.skills.mdp, shown.solution.q.astype(np.float32).astype(np.float64)
    for seed in range(20):
        found = opened.evaluate(
            """async (seed) => {
              const { model } = skillfocus;
              model.mode = "agent";
              await model.compute();
              const run = skillfocus.runAgent(model.sets[0], model.sets[0].task.start, { seed });
              return [run.elapsed, run.last];
            }""",
            seed,
        )
        options = options_of(mdp, shown.skills)
        steps, last = episode(
            options, task_arrays(shown.task), Learning(), q, workspace_of(mdp, options),
            np.random.default_rng(seed),
        )  # fmt: skip
        assert found == [steps, last]


def test_where_a_skill_ends_is_exact(opened, rooms):
    skills = rooms[0].skills
    start = skills.mdp.number(skills.world.showcase)
    found = opened.evaluate(
        """async () => {
          const { model } = skillfocus;
          await model.sets[0].readyAll();
          return model.sets[0].targets.map((_, z) => Array.from(skillfocus.lastStates(model.sets[0], z, model.start)));
        }"""
    )
    exact = side_effects(skills, np.array([start]))
    np.testing.assert_allclose(found, [effects.ends for effects in exact], atol=1e-6)


def test_rewards_behind_the_heat_map(opened, rooms):
    """Learned rewards to the nearest of their 256 shades, and penalties as Python computes them."""
    skills = rooms[0].skills
    mdp, penalty = skills.mdp, sf.focused(sf.vic()).penalty
    first = mdp.number(skills.world.showcase)
    states = np.arange(0, mdp.n_states, 37)
    found = opened.evaluate(
        """async ([first, states]) => {
          const heat = skillfocus.model.heats[0];
          await heat.ready();
          const over = (each) => [1, 9].map((z) => states.map((s) => each(z, s)));
          return [over((z, s) => heat.reward(z, 0, first, s)), over((z, s) => heat.penalty(z, first, s))];
        }""",
        [first, states.tolist()],
    )
    for place, z in enumerate((1, 9)):
        learned = skills.intrinsic_reward.reward(z, first, states)
        assert np.abs(np.array(found[0][place]) - learned.clip(learned.max() - 11)).max() < 1.1
        np.testing.assert_allclose(
            np.array(found[0][place])[learned > learned.max() - 5],
            learned[learned > learned.max() - 5], atol=0.03,
        )  # fmt: skip
        watched = np.array([name not in skills.targets[z] for name in mdp.space.names])
        begun = np.repeat(mdp.values[[first]], len(states), axis=0)
        wanted = penalty(mdp.space, begun, mdp.values[states], watched)
        np.testing.assert_allclose(found[1][place], wanted, atol=1e-12)


def test_chains_on_the_page(opened, focused_vic, four_rooms):
    opened.get_by_role("button", name="Chain").click()
    opened.get_by_role("button", name="clear").first.click()
    for label in ("skill 1, for tool_1", "skill 3, for tool_2"):
        opened.get_by_label(label).first.click()
    start = focused_vic.mdp.number(four_rooms.showcase)
    seed, states = next(
        (seed, states)
        for seed in range(100)
        for states in [chained(focused_vic, [1, 3], start, np.random.default_rng(seed))]
        if len(set(states)) < len(states)
    )
    opened.locator("#seed").fill(str(seed))
    opened.keyboard.press("Tab")
    opened.get_by_label("To the end").click()
    assert_shows(opened, focused_vic, [focused_vic.mdp.state(s) for s in (start, states[-1])])
    assert f"2 skills, {len(states) - 1} steps" in opened.locator(".verdict").first.inner_text()
    met = opened.locator(".chains .chart").first.get_attribute("aria-label")
    assert f"focused-vic, seed 0: {len(set(states))}" in met
    opened.get_by_role("button", name="Grow all chains").click()
    opened.wait_for_function("() => skillfocus.app.sections.chain.trees.get(0)?.chains > 500")
    opened.get_by_role("button", name="Stop").click()
    curve = opened.locator(".chains .chart").nth(1).get_attribute("aria-label")
    assert "focused-vic, seed 0, expected: 0.50" in curve
    assert opened.locator(".chains .curve").count() == 5


def test_scattered_skills_have_modes_on_the_page_too(page, tmp_path):
    world = sf.make("ForageWorld-v0")
    objective = sf.scattered(sf.focused(sf.vic()))
    skills = quick(world, objective)
    assert max(skills.n_modes) > 1
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([view_without_effects(skills)], tmp_path / "m.html").as_uri())
    page.wait_for_selector(READY)
    many = int(np.argmax(skills.n_modes))
    for seed in range(30):
        found = page.evaluate(
            """async ([z, seed]) => {
              const [set] = skillfocus.model.sets;
              await set.ready(z);
              return skillfocus.runChain(set, [z], skillfocus.model.start, { seed }).states;
            }""",
            [many, seed],
        )
        start = skills.mdp.state(choose_start_state(skills))
        path = skills.rollout(many, start, np.random.default_rng(seed))
        assert found == [skills.mdp.number(state) for state in path]
    page.get_by_role("button", name="Chain").click()
    page.locator(".chip").nth(0).click()
    page.locator(".chip").nth(many).click()
    page.get_by_label("Coloring").select_option("reward")
    for _ in range(25):
        page.keyboard.press("ArrowRight")
