"""Worlds, runs and parsers for tests of pictures."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import skillfocus as sf
from skillfocus.render import icons
from skillfocus.rollout import Trajectory
from skillfocus.worlds.grid import GridWorld

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ("<script>alert(1)</script>", '"quo\'ted" & more', "🍓 berry", "a\x00b\x1b]", "x" * 300)
UP, RIGHT, DOWN, LEFT = range(4)


class Lamps(sf.World):
    """Variables with names that try to be more than text."""

    id = "<img src=x onerror=alert(1)>"
    space = sf.Space(tuple(sf.Variable(name, HOSTILE) for name in HOSTILE))
    actions = ("go",)

    def states(self):
        return [(0,) * len(self.space)]

    def transition(self, state, action):
        return [sf.Outcome(1.0, tuple((i + 1) % len(HOSTILE) for i in state))]


class Angles(GridWorld):
    id = '<"angles">'
    legend = {"<": "<script>", "&": "both"}
    showcase_cell = (0, 0)

    def __init__(self):
        super().__init__(".<&.", 0.0, 5)

    def other_variables(self):
        return [sf.Variable("<b>", ("&", '"'))]

    def arrive(self, state, cell):
        return sf.Outcome(1.0, tuple(state))


def walk(world, moves, targets=(), start=None, skill=3):
    """Where likeliest outcomes lead."""
    states = [world.showcase if start is None else start]
    for move in moves:
        states.append(max(world.transition(tuple(states[-1]), move)).state)
    return Trajectory(states, world, skill, targets)


def fetch():
    """From a tool's neighbor to the tool and back."""
    world = sf.make("FourRooms-v0")
    return walk(world, [RIGHT, LEFT, LEFT], ["tool_1"], world.state(position=(5, 4)))


def muddy():
    """Through the mud to the treasure, out of it over free cells, and back onto the first."""
    world = sf.make("MudWorld-v0")
    moves = [UP, UP, UP, RIGHT, UP, RIGHT, RIGHT, RIGHT, LEFT]
    return walk(world, moves, ["treasure"], world.state(position=(7, 3)))


def parsed(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert not [element for element in root.iter() if "script" in str(element.tag)]
    return root


def agent_at(root):
    """The cell of the last group that is moved somewhere: the agent's."""
    moved = [g.get("transform") for g in root.findall(f"{SVG}g") if g.get("transform")]
    x, y = map(float, re.findall(r"[\d.]+", moved[-1]))
    return y / icons.BOX, x / icons.BOX


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.text = set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text.append(data)
