"""Maps from text, and walks through them."""

from __future__ import annotations

from skillfocus.worlds.maps import make_map


def parse(text: str):
    """A world without slips unless the text says otherwise."""
    return make_map("probe", text=text if "slip" in text else f"slip = 0\n{text}")


def walk(world, moves: str, **first):
    """The labels of every state on a way written as `>`, `<`, `^` and `v`, moves being certain."""
    state = world.space.state(**first)
    labels = [world.space.labels(state)]
    for move in moves:
        (outcome,) = world.transition(state, "^>v<".index(move))
        state = outcome.state
        labels.append(world.space.labels(state))
    return labels


def column(labels, name):
    return [row[name] for row in labels]
