from __future__ import annotations

import pickle

import numpy as np

from probes import RandomWorld, corridor, tiny_mud
from skill_sets import LEFT, RIGHT, walkers
from skillfocus.envs import SkillEnv, SkillVectorEnv, WorldEnv
from skillfocus.render.palette import COLOURS, FLOOR, WALLS
from skillfocus.render.tiles import AGENT, MUDDY_AGENT, TILE, TRACKED

# Rendering.


def rgb(colour):
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def tile(frame, row, column, inside=0.5):
    at = int(TILE * inside)
    return frame[row * TILE + at, column * TILE + at].tolist()


def test_a_map_is_drawn_in_colours():
    env = WorldEnv(corridor(), render_mode="rgb_array")
    env.reset(options={"state": (0, 0)})
    frame = env.render()
    assert (frame.dtype, frame.shape[2]) == (np.uint8, 3)
    assert [tile(frame, 1, c) for c in range(5)] == [
        rgb(c) for c in (WALLS, AGENT, FLOOR, COLOURS["tool"], WALLS)
    ]
    env.reset(options={"state": (1, 1)})
    taken = env.render()
    assert taken.shape == frame.shape
    assert [tile(taken, 1, c) for c in (1, 2, 3)] == [rgb(c) for c in (FLOOR, AGENT, FLOOR)]
    assert tile(taken, 1, 3, 0.25) == rgb(COLOURS["tool"]), (
        "a tool that was taken leaves an outline"
    )


def test_mud_is_drawn_where_it_lies():
    env = WorldEnv(tiny_mud(slip=0.0), render_mode="rgb_array")
    env.reset(options={"state": (2, 1, 1, 0)})
    env.step(LEFT)
    env.step(RIGHT)
    frame = env.render()
    assert [tile(frame, 1, c) for c in range(1, 7)] == [
        rgb(c)
        for c in (FLOOR, TRACKED, MUDDY_AGENT, COLOURS["mud"], COLOURS["mud"], COLOURS["puddle"])
    ]
    assert tile(frame, 1, 4, 0.25) == rgb(COLOURS["treasure"])


def test_a_skill_s_way_is_drawn():
    env = SkillEnv(walkers(limit=1), render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(0)
    after = env.render()
    assert tile(before, 1, 1) == rgb(AGENT)
    assert tile(after, 1, 1) not in (rgb(AGENT), rgb(FLOOR))


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
