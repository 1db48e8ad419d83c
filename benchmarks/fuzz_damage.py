"""Damage for `fuzz.py`: texts, bytes and JSON data with something wrong in them."""

from __future__ import annotations

from random import Random

MAP = """# every word that a map can hold
slip = 0.1
step limit = 9
goals = key, coin
K = pick-up key
C = counter coin up to 2
V = fragile vase
L = switch lamp
M = sets muddy
W = clears muddy
D = door needs no lamp
tracks prints while muddy up to 2

map:
#######
#@K.CV#
#.#D###
#LM.W.#
#######
"""
DRAWING = "######\n#...T#\n######"
WORDS = (
    "", " ", "\t", "\n", "\r\n", "\0", "#", "=", ",", ":", "..", ".", "-", "+", "@", "nan", "inf",
    "-1", "0", "1", "2", "3.5", "1e400", "-0.0", "9" * 30, "٣", "ß", "\ufeff", "\u202e", "😀", "'",
    '"', "[b]", "%s", "{}", "null", "true", "slip", "position", "strength", "gamma", "tool_1",
    "up to", "needs", "no", "a" * 300, "../x", "/dev/null", "--", "--help",
)  # fmt: skip
VALUES = (
    None, True, False, -1, 0, 1, 2, 7, 2**31, 2**63, 2**70, -0.5, 0.5, 1e308, float("nan"),
    float("inf"), "", "x", "\0", "position", "tool_1", "FourRooms-v0", "map:x", "my.py:World",
    "1" * 300, [], [[]], {}, [None], [1, 2], ["position"], [["position"]], {"a": 1},
    {"text": MAP}, {"text": ""}, DRAWING,
)  # fmt: skip


def damage_text(rng: Random, text: str) -> str:
    """Change a text in one to three places."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randint(0, len(text))
        match rng.randrange(10):
            case 0 | 1 | 2:
                text = text[:at] + rng.choice(WORDS) + text[at:]
            case 3 | 4 | 5:
                text = text[:at] + text[at + rng.randint(1, 8) :]
            case 6 | 7:
                letter = rng.choice(text or " ") if rng.random() < 0.7 else rng.choice("\u2028\a~;")
                text = text[:at] + letter + text[at + 1 :]
            case 8:
                lines = text.split("\n")
                lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
                text = "\n".join(lines)
            case _:
                lines = text.split("\n")
                rng.shuffle(lines)
                text = "\n".join(lines)
    return text


def damage_bytes(rng: Random, content: bytes) -> bytes:
    """Cut a file, or change some of its bytes."""
    changed = bytearray(content)
    if rng.random() < 0.3:
        return bytes(changed[: rng.randrange(len(changed))])
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def damage_json(rng: Random, value: object) -> object:
    """Replace, remove or add something within JSON data."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if rng.random() < 0.05:
            return {**value, rng.choice(WORDS): rng.choice(VALUES)}
        return {**value, key: damage_json(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], damage_json(rng, value[at]), *value[at + 1 :]]
    return rng.choice(VALUES)
