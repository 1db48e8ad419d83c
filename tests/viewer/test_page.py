"""Pages as their visitors use them, in a real browser, against Python."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.core.rollout import Options, apply_action, mdp_arrays, reset_marks
from skillfocus.metrics.coverage import sample_trees
from skillfocus.metrics.side_effects import side_effects
from skillfocus.render.icons import PALETTES
from skillfocus.tasks.episodes import GREEDY, episode, options_of, task_arrays, workspace_of
from skillfocus.tasks.smdp_q_learning import SMDPQLearning, solve
from skillfocus.tasks.task import task_of
from skillfocus.viewer import payload
from skillfocus.viewer.page import write_page
from skillfocus.viewer.payload import Shown
from skillfocus.viewer.starts import first_state
from skillfocus.worlds.maps.parser import make_map

pytestmark = pytest.mark.slow
ROLLOUTS = 1000
WORLDS = ("FourRooms-v0", "ForageWorld-v0", "MudWorld-v0")
PAPER_GRIDS = "body[data-ready]"


def quick(world, objective):
    return sf.discover(world, objective, seed=0, learner=sf.Planning(rounds=2, rollouts=50))


@pytest.fixture(scope="module")
def sets():
    """Focused VIC and DIAYN skills of the three worlds, not learned well."""
    worlds = [sf.make(name) for name in WORLDS]
    return [quick(world, sf.focused(make())) for world in worlds for make in (sf.vic, sf.diayn)]


@pytest.fixture(scope="module")
def rooms(focused_vic, four_rooms, four_rooms_table):
    """Focused and plain skills of FourRooms, and a task learned with the first."""
    task = task_of(four_rooms, four_rooms_table)
    found = solve(
        four_rooms_table, task, focused_vic, seed=0,
        settings=SMDPQLearning(episodes=4000, final_runs=10),
    )  # fmt: skip
    return [
        Shown(focused_vic, task=task, solution=found, coverage=[0.1, 0.2, 0.3, 0.4, 0.5]),
        Shown(quick(four_rooms, sf.diayn())),
    ]


@pytest.fixture(scope="module")
def rooms_page(rooms, tmp_path_factory):
    return write_page(rooms, tmp_path_factory.mktemp("page") / "rooms.html")


@pytest.fixture
def opened(page, rooms_page):
    """The page of FourRooms, not moving."""
    page.emulate_media(reduced_motion="reduce")
    page.goto(rooms_page.as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    return page


def untold(skills):
    """To be shown without the time it takes to compute what its skills do."""
    nothing = dict.fromkeys(("changes_target", "side_effects", "steps"))
    record = {**nothing, "side_effects_by_variable": {}, "starts": 0, "exact": True}
    return Shown(skills, records=[record] * len(skills))


def first_value(page, variable):
    return page.locator("#firsts label").filter(has_text=variable).locator("select")


def settle(page):
    """Policies take a moment to unpack; then what was chosen is shown."""
    page.wait_for_function("() => !skillfocus.app.busy")


def values_shown(page, panel=0):
    """{variable: (first, now, mark)} as the panel's table says."""
    settle(page)
    rows = page.locator(".panel").nth(panel).locator(".values tbody tr").all()
    texts = [row.locator("th, td").all_inner_texts() for row in rows]
    return {name: tuple(rest) for name, *rest in texts}


def shown_as(skills, first, last):
    labels = (skills.mdp.space.labels(state) for state in (first, last))
    return [{name: str(value) for name, value in each.items()} for each in labels]


def assert_shows(page, skills, path, panel=0):
    first, last = shown_as(skills, path[0], path[-1])
    told = values_shown(page, panel)
    assert {name: row[0] for name, row in told.items()} == first
    assert {name: row[1] for name, row in told.items()} == last


def painted(page):
    settle(page)
    return page.evaluate("document.querySelector('.map').toDataURL()")


def pixel(page, world, row, column):
    """The colour of a map's first panel at a place, in cells from its top left corner."""
    settle(page)
    rows = world.map.rows
    found = page.evaluate(
        """([across, down]) => {
          const map = document.querySelector(".map");
          return Array.from(map.getContext("2d").getImageData(across * map.width, down * map.height, 1, 1).data);
        }""",
        [column / len(rows[0]), row / len(rows)],
    )
    return "#" + bytes(found[:3]).hex()


def click_cell(page, cell, world, panel=0):
    box = page.locator(".map").nth(panel).bounding_box()
    rows = world.map.rows
    page.mouse.click(
        box["x"] + (cell[1] + 0.5) * box["width"] / len(rows[0]),
        box["y"] + (cell[0] + 0.5) * box["height"] / len(rows),
    )


def test_random_numbers_are_numpys(opened):
    for seed in (0, 7, 2**32 - 1, [7, 3], [1, 2, 3, 4, 5, 6]):
        drawn = opened.evaluate(
            "seed => { const r = new skillfocus.Random(seed);"
            " return Array.from({ length: 50 }, () => r.next()) }",
            seed,
        )
        assert drawn == np.random.default_rng(seed).random(50).tolist()


@pytest.mark.parametrize("walked", [False, True])
def test_runs_are_pythons_state_for_state(page, sets, walked, tmp_path, monkeypatch):
    """A thousand runs in each world, from anywhere: with whole policies, and with walked ones."""
    if walked:
        monkeypatch.setattr(payload, "SMALL", 0)
        monkeypatch.setattr(payload, "BUDGET", 0)
    shown = [untold(skills) for skills in sets[:: 2 if walked else 1]]
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page(shown, tmp_path / "p.html").as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    rng = np.random.default_rng(0)
    for place, one in enumerate(shown):
        skills = one.skills
        columns = (len(skills), skills.mdp.n_states, 2**32)
        n = ROLLOUTS if walked else ROLLOUTS // 2
        jobs = np.stack([rng.integers(most, size=n) for most in columns], axis=1)
        found = page.evaluate(
            """async ([place, jobs]) => {
              const set = skillfocus.model.sets[place];
              await set.readyAll();
              return jobs.map(([z, start, seed]) => skillfocus.runChain(set, [z], start, { seed }).states);
            }""",
            [place, jobs.tolist()],
        )
        assert not (walked and "whole" in payload.policy_data(skills, 0))
        for (z, start, seed), states in zip(jobs.tolist(), found, strict=True):
            path = skills.rollout(z, skills.mdp.state(start), np.random.default_rng(seed))
            assert states == [skills.mdp.number(state) for state in path]


def test_without_slips_runs_are_the_likely_ones(page, sets, tmp_path):
    skills = sets[0]
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([untold(skills)], tmp_path / "p.html").as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    page.get_by_label("moves slip").uncheck()
    for z in (0, 3, 12):
        page.locator(".chip").nth(z).click()
        page.keyboard.press("End")
        start = skills.mdp.state(first_state(skills))
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
    page.goto(write_page([untold(skills)], tmp_path / "p.html").as_uri())
    page.wait_for_selector(PAPER_GRIDS)
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
    start = first_state(skills)
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
            options, task_arrays(shown.task), GREEDY, q, workspace_of(mdp, options),
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
    np.testing.assert_allclose(found, [effects.ends for effects in exact], atol=1e-9)


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
        learned = skills.learned.reward(z, first, states)
        assert np.abs(np.array(found[0][place]) - learned.clip(learned.max() - 11)).max() < 1.1
        np.testing.assert_allclose(
            np.array(found[0][place])[learned > learned.max() - 5],
            learned[learned > learned.max() - 5], atol=0.03,
        )  # fmt: skip
        watched = np.array([name not in skills.targets[z] for name in mdp.space.names])
        begun = np.repeat(mdp.values[[first]], len(states), axis=0)
        wanted = penalty(mdp.space, begun, mdp.values[states], watched)
        np.testing.assert_allclose(found[1][place], wanted, atol=1e-12)


def test_choose_a_skill_click_a_start_play_to_the_end(page, rooms_page, focused_vic, four_rooms):
    page.goto(rooms_page.as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    page.get_by_label("Speed").select_option("32")
    page.get_by_label("skill 5, for tool_3").first.click()
    cell = (9, 8)
    click_cell(page, cell, four_rooms)
    page.wait_for_function("() => skillfocus.model.t > 0 && !skillfocus.model.playing")
    start = four_rooms.space.state(position=cell)
    path = focused_vic.rollout(5, start, np.random.default_rng(0))
    assert_shows(page, focused_vic, path)
    assert page.locator("#clock").inner_text() == f"{len(path) - 1} / {len(path) - 1}"


def test_verdicts(opened, focused_vic, four_rooms):
    """Focused, as it says; and with a side effect, in words, not by colour alone."""
    panel = opened.locator(".panel").first
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("End")
    path = focused_vic.rollout(1, four_rooms.showcase, np.random.default_rng(0))
    assert path.changed == ("tool_1",)
    settle(opened)
    assert "Focused: it changed tool_1" in panel.locator(".verdict").inner_text()
    assert values_shown(opened)["tool_1"][2] == "✓ target"
    opened.keyboard.press("Home")
    for _ in range(4):
        opened.keyboard.press("ArrowRight")
    assert values_shown(opened)["position"][1] == str(four_rooms.space.labels(path[4])["position"])
    assert values_shown(opened)["position"][2] == "changed so far"
    assert "step 4 of" in panel.locator(".verdict").inner_text()


def test_the_page_and_python_say_the_same(opened, focused_vic, four_rooms):
    """In the same words, whatever a run has come to."""
    said = set()
    for z in range(len(focused_vic)):
        for seed in (0, 28):
            told = opened.evaluate(
                """async ([z, seed]) => {
                  const { app, model } = skillfocus;
                  await app.change(() => Object.assign(model, { seed, goal: null, skill: [z, 0] }));
                  app.seek(({ length }) => length);
                  const [sign, words] = document.querySelector(".verdict").childNodes;
                  return `${sign.textContent} ${words.textContent}`;
                }""",
                [z, seed],
            )
            path = focused_vic.rollout(z, four_rooms.showcase, np.random.default_rng(seed))
            assert told.replace(" (its steps are used up)", "") == path.verdict
            said.add(path.verdict[0])
    assert said == {"✓", "✗", "○"}


def test_side_effects_are_marked_at_the_end(opened, focused_vic, four_rooms):
    path = next(
        (seed, path)
        for seed in range(1000)
        for path in [focused_vic.rollout(1, four_rooms.showcase, np.random.default_rng(seed))]
        if path.side_effects
    )
    seed, path = path
    opened.locator("#seed").fill(str(seed))
    opened.keyboard.press("Tab")
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("End")
    marked = {name for name, row in values_shown(opened).items() if row[2] == "✗ side effect"}
    assert marked == set(path.side_effects)
    said = opened.locator(".verdict").first.inner_text()
    assert all(name in said for name in path.side_effects)
    row = opened.locator(".effects .current").first.locator("th, td").all_text_contents()
    (effects,) = [e for z, e in enumerate(side_effects(focused_vic)) if z == 1]
    assert row[:4] == [
        "1",
        "tool_1",
        f"{effects.changes_target:.2f}",
        f"{effects.side_effects:.3f}",
    ]


def test_first_values_can_be_set(opened, focused_vic, four_rooms):
    first_value(opened, "tool_2").select_option("1")
    first_value(opened, "position").select_option(label="(1, 1)")
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("End")
    start = four_rooms.space.state(position=(1, 1), tool_2=1)
    path = focused_vic.rollout(1, start, np.random.default_rng(0))
    assert_shows(opened, focused_vic, path)


def test_other_slips_and_ghosts(opened, focused_vic, four_rooms):
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("r")
    assert opened.locator("#seed").input_value() == "1"
    opened.locator("#seed").fill("12")
    opened.keyboard.press("Tab")
    opened.get_by_label("Ghosts").select_option("50")
    opened.get_by_label("To the end").click()
    path = focused_vic.rollout(1, four_rooms.showcase, np.random.default_rng(12))
    assert_shows(opened, focused_vic, path)
    ghosts = [
        focused_vic.rollout(1, four_rooms.showcase, np.random.default_rng([12, k]))
        for k in range(1, 51)
    ]
    number = focused_vic.mdp.number
    paths = opened.evaluate("skillfocus.model.runs.get(0).ghosts.map((ghost) => ghost.states)")
    assert paths == [[number(state) for state in ghost] for ghost in ghosts]
    done = sum("tool_1" in ghost.changed for ghost in ghosts)
    side = sum(bool(ghost.side_effects) for ghost in ghosts)
    said = opened.locator(".crowd").nth(1).inner_text()
    assert said == f"Of 50 ghosts, {done} changed the target; {side} had side effects."


def test_side_by_side(opened, rooms, four_rooms):
    """Both sets begin in the same state with the same random numbers."""
    assert opened.locator(".panel").count() == 2
    click_cell(opened, (2, 2), four_rooms, panel=1)
    opened.keyboard.press("End")
    start = four_rooms.space.state(position=(2, 2))
    chosen = opened.evaluate("skillfocus.model.skill")
    for panel, shown in enumerate(rooms):
        path = shown.skills.rollout(chosen[panel], start, np.random.default_rng(0))
        assert_shows(opened, shown.skills, path, panel)
    opened.get_by_label("Remove diayn, seed 0").click()
    assert opened.locator(".panel").count() == 1
    opened.get_by_label("Compare with another").select_option(label="diayn, seed 0")
    assert opened.locator(".panel").count() == 2


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
    opened.wait_for_function("() => skillfocus.app.chains.trees.get(0)?.chains > 500")
    opened.get_by_role("button", name="Stop").click()
    curve = opened.locator(".chains .chart").nth(1).get_attribute("aria-label")
    assert "focused-vic, seed 0, expected: 0.50" in curve
    assert opened.locator(".chains .curve").count() == 5


def test_the_agent_on_the_page(opened, rooms):
    opened.get_by_role("button", name="Agent").click()
    opened.keyboard.press("End")
    first = opened.locator(".panel").first
    first.locator(".choices .chosen").wait_for()
    assert "tools" in first.locator(".verdict").inner_text()
    assert "No task was learned" in opened.locator(".verdict").nth(1).inner_text()
    shown = rooms[0]
    corner = shown.skills.mdp.space.labels(shown.skills.mdp.state(shown.task.start))
    assert values_shown(opened)["position"][0] == str(corner["position"])


def test_a_link_is_the_exact_view(opened, rooms_page, browser):
    opened.get_by_label("skill 7, for tool_4").first.click()
    first_value(opened, "tool_1").select_option("1")
    opened.keyboard.press("a")
    opened.get_by_label("Colouring").select_option("ends")
    opened.get_by_label("Ghosts").select_option("10")
    opened.keyboard.press("End")
    opened.keyboard.press("ArrowLeft")
    link, told = opened.evaluate("location.href"), values_shown(opened)
    picture = painted(opened)
    opened.goto("about:blank")
    opened.goto(link)
    opened.wait_for_selector(PAPER_GRIDS)
    assert values_shown(opened) == told
    assert opened.evaluate("location.href") == link
    assert painted(opened) == picture


def test_nonsense_in_a_link_is_ignored(opened, rooms_page):
    opened.goto("about:blank")
    nonsense = "#world=9&sets=7.x&mode=toString&skills=99&start=1.2&seed=-4&t=x&heat=__proto__"
    opened.goto(rooms_page.as_uri() + nonsense)
    opened.wait_for_selector(PAPER_GRIDS)
    assert opened.locator(".panel").count() == 2


def test_keys(opened):
    model = "skillfocus.model"
    opened.keyboard.press("Space")
    assert opened.evaluate(f"{model}.playing")
    opened.keyboard.press("Space")
    assert not opened.evaluate(f"{model}.playing")
    before = opened.evaluate(f"{model}.skill[0]")
    opened.keyboard.press("j")
    assert opened.evaluate(f"{model}.skill[0]") == (before + 1) % 16
    opened.keyboard.press("k")
    opened.keyboard.press("g")
    assert opened.evaluate(f"{model}.ghosts") == 50
    opened.keyboard.press("h")
    assert opened.evaluate(f"{model}.heat") == "ends"
    opened.keyboard.press("m")
    assert opened.evaluate(f"{model}.mode") == "chain"
    opened.keyboard.press("Shift+?")
    assert opened.locator("#keys").is_visible()
    opened.keyboard.press("Escape")
    opened.get_by_role("button", name="One skill").click()
    opened.get_by_role("button", name="usual start").click()
    opened.locator(".map").first.focus()
    opened.keyboard.press("ArrowUp")
    assert first_value(opened, "position").locator("option:checked").inner_text() == "(5, 9)"


def test_everything_can_be_reached_and_has_a_name(opened):
    """Whatever takes the focus says what it is."""
    nameless = opened.evaluate(
        """() => [...document.querySelectorAll("button, select, input, canvas, [tabindex]")]
          .filter((it) => !(it.getAttribute("aria-label") || it.labels?.length || (it.tagName !== "SELECT" && it.textContent.trim())))
          .map((it) => it.outerHTML)"""
    )
    assert nameless == []
    assert opened.evaluate("document.documentElement.lang") == "en"


def test_on_a_phone(browser, page, rooms_page, focused_vic, four_rooms):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(reduced_motion="reduce", color_scheme="dark")
    page.goto(rooms_page.as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".map").first.bounding_box()
    assert box["width"] > 300
    play = page.get_by_role("button", name="Play").bounding_box()
    assert play["y"] + play["height"] <= 844
    assert play["width"] >= 40
    click_cell(page, (2, 2), four_rooms)
    page.get_by_label("skill 1, for tool_1").first.click()
    for _ in range(60):
        page.get_by_label("A step on").click()
    start = four_rooms.space.state(position=(2, 2))
    assert_shows(page, focused_vic, focused_vic.rollout(1, start, np.random.default_rng(0)))


def test_what_is_drawn(opened, four_rooms):
    """A ring round what the skill is for, gone with another skill; every layer shows."""
    colours = PALETTES["light"]
    tool_1, tool_2 = four_rooms.tools[:2]
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("Home")
    assert pixel(opened, four_rooms, tool_1[0] + 0.5, tool_1[1]) == colours["target"]
    assert pixel(opened, four_rooms, tool_2[0] + 0.5, tool_2[1]) != colours["target"]
    opened.get_by_label("skill 3, for tool_2").first.click()
    assert pixel(opened, four_rooms, tool_2[0] + 0.5, tool_2[1]) == colours["target"]
    assert pixel(opened, four_rooms, tool_1[0] + 0.5, tool_1[1]) != colours["target"]
    assert pixel(opened, four_rooms, 0.5, 0.5) == colours["wall"]
    seen = {painted(opened)}
    for key in ("a", "h", "h", "h", "g", "ArrowRight"):
        opened.keyboard.press(key)
        seen.add(painted(opened))
    assert len(seen) == 6  # before it has moved, an agent hides its ghosts


def test_tracks_are_drawn_where_they_were_left(page, sets, tmp_path):
    skills = sets[-2]
    world, mdp = skills.world, skills.mdp
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([untold(skills)], tmp_path / "p.html").as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    tracked = page.evaluate("skillfocus.model.world.map.tracked")
    assert {
        world.map.cells[p]: mark for p, mark in enumerate(tracked) if mark >= 0
    } == world.mark_of
    start = world.space.state(position=(4, 7), muddy=1)
    z, seed, path = next(
        (z, seed, path)
        for z in range(len(skills))
        for seed in range(20)
        for path in [skills.rollout(z, start, np.random.default_rng(seed))]
        if path[-1][3] > 0 and world.map.cells[path[-1][0]] != (4, 7)
    )
    cells = [world.map.cells[state[0]] for state in path]
    left = next(
        cell
        for cell, before, after in zip(cells[1:], path, path[1:], strict=False)
        if after[3] > before[3] and cell != cells[-1]
    )
    link = ".".join(map(str, start))
    page.evaluate(f"location.hash = 'start={link}&skills={z}&seed={seed}&t=0'")
    page.wait_for_function(f"() => skillfocus.model.seed === {seed} && !skillfocus.app.busy")
    before = pixel(page, world, left[0] + 14.6 / 24, left[1] + 7 / 24)
    page.keyboard.press("End")
    assert pixel(page, world, left[0] + 14.6 / 24, left[1] + 7 / 24) != before
    assert mdp.n_marks


def test_light_and_dark_are_drawn_differently(opened):
    light = painted(opened)
    opened.emulate_media(color_scheme="dark", reduced_motion="reduce")
    opened.wait_for_function(
        "light => document.querySelector('.map').toDataURL() !== light", arg=light
    )


HOSTILE = """<script>alert(1)</script> "quoted" 'single' & 🐙"""


class Hostile(sf.World):
    """A switch and a lamp without a map, both with names that a page must show as text."""

    id = "Hostile" + HOSTILE
    actions = ("wait", "<b>press</b>")
    space = sf.FactoredSpace(
        (sf.Variable(HOSTILE, ("off", "<i>on</i>")), sf.Variable("hour", tuple(range(6))))
    )

    def states(self):
        return [(lamp, hour) for lamp in range(2) for hour in range(6)]

    def transition(self, state, action):
        lamp, hour = state
        return [
            sf.Outcome(0.5, (lamp ^ action, (hour + 1) % 6)),
            sf.Outcome(0.5, (lamp ^ action, hour)),
        ]


def test_worlds_without_a_map_are_cards_and_names_are_text(page, tmp_path):
    skills = sf.discover(Hostile(), sf.focused(sf.vic()), seed=0, targets={HOSTILE: 2, "hour": 2})
    path = write_page([Shown(skills, HOSTILE)], tmp_path / "<b>&'page.html", title=HOSTILE)
    page.emulate_media(reduced_motion="reduce")
    page.goto(path.as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    assert page.title() == HOSTILE
    assert page.locator("#world").inner_text() == Hostile.id
    assert page.locator("script").count() == 4
    assert page.locator("main b, main i, .setup b").count() == 0
    assert page.locator("canvas").count() == 0
    assert page.locator(".panel h2").inner_text() == HOSTILE
    assert page.locator(".card .name").all_inner_texts() == [HOSTILE, "hour"]
    page.locator(".chip").nth(1).click()
    page.get_by_label("Ghosts").select_option("10")
    page.keyboard.press("End")
    start = skills.mdp.state(0)
    path = skills.rollout(1, start, np.random.default_rng(0))
    assert_shows(page, skills, path)
    shown = page.locator(".card .value").all_inner_texts()
    assert shown == [str(v) for v in skills.mdp.space.labels(path[-1]).values()]


def test_maps_of_emoji(page, tmp_path):
    """Characters are cells, however many units of text JavaScript makes of them."""
    text = "🐙 = pick-up octopus\nK = pick-up key\nmap:\n#######\n#@🐙.K.#\n#######\n"
    skills = quick(make_map("<i>m</i>", text=text), sf.focused(sf.vic()))
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([untold(skills)], tmp_path / "m.html").as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    assert page.locator("#world").inner_text() == "map:<i>m</i>"
    assert set(values_shown(page)) == {"position", "octopus", "key"}
    rows = page.evaluate("skillfocus.model.world.map.rows")
    assert rows[1] == list("#.🐙.K.#")
    places = page.evaluate("skillfocus.model.world.map.places")
    names, cells = skills.world.space.names, skills.world.map.cells
    changes = {name: [cells[p] for p in places[j]] for j, name in enumerate(names)}
    assert changes == {"position": [], "octopus": [(1, 2)], "key": [(1, 4)]}


def test_scattered_skills_have_modes_on_the_page_too(page, tmp_path):
    world = sf.make("ForageWorld-v0")
    objective = sf.scattered(sf.focused(sf.vic()))
    skills = quick(world, objective)
    assert max(skills.modes) > 1
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([untold(skills)], tmp_path / "m.html").as_uri())
    page.wait_for_selector(PAPER_GRIDS)
    many = int(np.argmax(skills.modes))
    for seed in range(30):
        found = page.evaluate(
            """async ([z, seed]) => {
              const [set] = skillfocus.model.sets;
              await set.ready(z);
              return skillfocus.runChain(set, [z], skillfocus.model.start, { seed }).states;
            }""",
            [many, seed],
        )
        start = skills.mdp.state(first_state(skills))
        path = skills.rollout(many, start, np.random.default_rng(seed))
        assert found == [skills.mdp.number(state) for state in path]
    page.get_by_role("button", name="Chain").click()
    page.locator(".chip").nth(0).click()
    page.locator(".chip").nth(many).click()
    page.get_by_label("Colouring").select_option("reward")
    for _ in range(25):
        page.keyboard.press("ArrowRight")


def test_a_file_that_is_cut_off_says_so(browser, rooms_page, tmp_path):
    text = rooms_page.read_text()
    cut = tmp_path / "cut.html"
    cut.write_text(text[: text.index('id="policies-0"') + 4000])
    page = browser.new_page()
    page.goto(cut.as_uri())
    page.wait_for_function("() => document.getElementById('told').textContent")
    assert "not whole" in page.locator("#told").inner_text()
    assert page.locator("#told").bounding_box()["width"] > 100
    page.close()


def test_choices_made_while_others_are_being_prepared(opened):
    """Policies take a moment to unpack: what was chosen last counts."""
    shown = opened.evaluate(
        """async () => {
          const { app, model } = skillfocus;
          for (const set of model.sets) Object.assign(set, { loading: [], taskLoading: null });
          app.change(() => model.watch(1), true);
          app.choose(1, 3);
          app.turnTo("agent");
          app.turnTo("skill");
          await app.choose(1, 5);
          return [model.skill[1], app.busy, model.mode];
        }"""
    )
    assert shown == [5, False, "skill"]


def test_skills_draw_themselves_in_notebooks(page, focused_vic, tmp_path):
    """A notebook's cell is a part of another page."""
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><title>n</title>{focused_vic._repr_html_()}", "utf-8")
    page.goto(cell.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(PAPER_GRIDS).wait_for()
    inside.get_by_label("To the end").click()
    assert "Focused" in inside.locator(".verdict").inner_text()
