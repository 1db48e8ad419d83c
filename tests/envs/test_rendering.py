from __future__ import annotations

import pickle

import numpy as np

from probes import RandomWorld, corridor, tiny_mud
from skill_sets import LEFT, RIGHT, walkers
from skillfocus.envs import SkillEnv, SkillVectorEnv, WorldEnv
from skillfocus.render.icons import BOX, ICONS, PALETTES, SHADES, THING_COLORS
from skillfocus.render.scene import SCALE, Stage

LIGHT = PALETTES["light"]
SKIN, FLOOR, WALL = SHADES["skin"], LIGHT["floor"], LIGHT["wall"]


def colors_in(frame, world, cell):
    """The colors of a cell's pixels, anti-aliased edges included."""
    x, y = Stage(world).center(cell)
    half = BOX / 2 - 1.5  # inside the grid lines
    box = [round(each * SCALE) for each in (y - half, y + half, x - half, x + half)]
    pixels = frame[box[0] : box[1], box[2] : box[3]].reshape(-1, 3)
    return {"#" + bytes(pixel).hex() for pixel in pixels.tolist()}


def test_a_map_is_drawn_with_its_things_and_the_agent():
    world = corridor()
    env = WorldEnv(world, render_mode="rgb_array")
    env.reset(options={"state": (0, 0)})
    frame = env.render()
    assert (frame.dtype, frame.shape[2]) == (np.uint8, 3)
    wall, here, free, tool, other_wall = (colors_in(frame, world, (1, c)) for c in range(5))
    assert wall == other_wall == {WALL}
    assert SKIN in here
    assert free == {FLOOR}
    assert THING_COLORS["tool"] in tool
    env.reset(options={"state": (1, 1)})
    after = env.render()
    assert after.shape == frame.shape
    left, here, taken = (colors_in(after, world, (1, c)) for c in (1, 2, 3))
    assert left == {FLOOR}
    assert SKIN in here
    assert SHADES["tool edge"] not in taken
    assert len(taken) > 1, "a tool that was taken leaves an outline"


def test_mud_is_drawn_where_it_lies():
    world = tiny_mud(slip=0.0)
    env = WorldEnv(world, render_mode="rgb_array")
    env.reset(options={"state": (2, 1, 1, 0)})
    clean = colors_in(env.render(), world, (1, 2))
    env.step(LEFT)
    env.step(RIGHT)
    frame = env.render()
    free, tracked, here, treasure, mud, puddle = (
        colors_in(frame, world, (1, c)) for c in range(1, 7)
    )
    assert free == clean == {FLOOR}
    assert {SHADES["track"], FLOOR} <= tracked, "tracks lie where the muddy agent went"
    assert {SHADES["splash"], SHADES["skin"]} <= here, "a muddy agent is brown"
    assert SHADES["mud pit"] in treasure & mud
    assert SHADES["wood"] not in treasure, "the treasure has been taken"
    assert SHADES["ripple"] in puddle or SHADES["water"] in puddle
    assert ICONS["tracks"][0].fill == SHADES["track"]
    env.reset(options={"state": (2, 0, 0, 0)})
    before = env.render()
    assert SHADES["wood"] in colors_in(before, world, (1, 4))
    assert SHADES["splash"] not in colors_in(before, world, (1, 3))


def test_a_skill_s_path_is_drawn():
    skills = walkers(limit=1)
    env = SkillEnv(skills, render_mode="rgb_array")
    env.reset(seed=0)
    before = colors_in(env.render(), skills.world, (1, 1))
    env.step(0)
    after = colors_in(env.render(), skills.world, (1, 1))
    assert SKIN in before
    assert SKIN not in after
    assert LIGHT["way"] in after - before


def test_worlds_without_a_map_are_drawn_as_text():
    env = WorldEnv(RandomWorld(0), render_mode="rgb_array")
    frames = []
    for state in ((0, 0), (0, 1), (0, 0)):
        env.reset(options={"state": state})
        frames.append(env.render())
    assert frames[0].min() < 100
    assert (frames[0] != frames[1]).any()
    assert (frames[0] == frames[2]).all()
    text = WorldEnv(RandomWorld(0), render_mode="ansi")
    text.reset(options={"state": (2, 1)})
    assert text.render() == "v0=2\nv1=1"
    assert WorldEnv(RandomWorld(0)).render() is None


def test_a_batch_draws_its_episodes():
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray)):
        env = SkillVectorEnv(walkers(), num_envs=2, render_mode=mode)
        env.reset(seed=0)
        env.step(np.array([0, 1]))
        frames = env.render()
        assert [type(frame) for frame in frames] == [kind, kind]
        assert pickle.dumps(frames[0]) != pickle.dumps(frames[1])
    assert SkillVectorEnv(walkers(), num_envs=2).render() is None
