from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from map_walks import column, parse, walk
from paths import ROOT
from skillfocus.errors import UserError
from skillfocus.worlds.maps import FEATURES, SETTINGS, make_map, read_map

MAPS = ROOT / "examples" / "maps"
PAPER = ("four-rooms", "forage-world", "mud-world")
UP, RIGHT, DOWN, LEFT = range(4)


@pytest.mark.parametrize("name", PAPER)
def test_the_paper_s_worlds_as_map_files_equal_the_built_in_ones_state_for_state(name):
    built_in, drawn = sf.make(name), read_map(MAPS / f"{name}.txt")
    expected, mdp = sf.tabulate(built_in), sf.tabulate(drawn)
    assert mdp.fingerprint == expected.fingerprint
    assert np.array_equal(mdp.marks_in, expected.marks_in)
    for what in ("goals", "default_target", "step_limit", "n_marks", "showcase", "fixed"):
        assert getattr(drawn, what) == getattr(built_in, what), what
    for number in np.random.default_rng(0).integers(mdp.n_states, size=200):
        assert drawn.draw(mdp.state(number)) == built_in.draw(mdp.state(number))


@pytest.mark.parametrize(
    ("old", "new"),
    [("slip = 0.1", "slip = 0.11"), ("#P.....#", "#.P....#"), ("up to 2", "up to 3"),
     ("counter resource", "counter food"), ("fragile plant", "switch plant")],
)  # fmt: skip
def test_any_change_of_the_file_s_meaning_changes_the_fingerprint(old, new):
    text = (MAPS / "forage-world.txt").read_text()
    assert text.count(old) == 1
    changed = sf.tabulate(make_map("x", text=text.replace(old, new)))
    assert changed.fingerprint != sf.tabulate(sf.make("forage-world")).fingerprint


@pytest.mark.parametrize("path", sorted(MAPS.glob("*.txt")), ids=lambda p: p.stem)
def test_settings_make_the_same_world_again(path):
    world = read_map(path)
    assert world.id == f"map:{path.stem}"
    again = make_map(path.stem, **json.loads(json.dumps(world.settings)))
    assert sf.tabulate(again).fingerprint == sf.tabulate(world).fingerprint
    assert (again.id, again.settings, again.goals) == (world.id, world.settings, world.goals)
    assert world.draw(world.showcase).count("@") == 1


def test_the_start_is_where_the_sign_is_else_the_first_free_cell():
    assert parse("K = pick-up key\nmap:\nK..\n.@.").showcase == (4, 0)
    assert parse("K = pick-up key\nmap:\nKK.\n...").showcase == (2, 0, 0)
    assert parse("K = pick-up key\nmap:\nKK").showcase == (0, 0, 0)
    assert parse("map:\n.@").map.rows == [".."]


def test_settings_have_defaults():
    world = make_map("x", text="map:\n..")
    assert (world.slip, world.step_limit) == (0.1, 40)


def test_odd_but_readable_files_are_read(tmp_path):
    plain = "# a comment\nslip = 0.2\nT = pick-up tool\nmap:\n##\n.T\n"
    odd = (
        "\ufeff\r\n  # a comment with = and ,\r\nslip=0.2   \r\n\r\nT   =   pick-up   tool  # mine"
        "\r\nmap:   \r\n\r\n##  \r\n.T\r\n\r\n   \r\n"
    )
    old_mac = plain.replace("\n", "\r")
    for number, text in enumerate((plain, odd, old_mac)):
        path = tmp_path / f"my.map-{number}.txt"
        path.write_bytes(text.encode())
        world = read_map(str(path))
        assert world.id == f"map:my.map-{number}"
        assert sf.tabulate(world).fingerprint == sf.tabulate(make_map("x", text=plain)).fingerprint


@pytest.mark.parametrize(
    "name",
    ["clé", "<script>alert(1)</script>", "'\"`", "👩‍🚀", "no", "map:", "up", "{x}", "%s", "鍵"],
)
def test_names_are_just_text(name):
    world = parse(f"🗝 = pick-up {name}\nD = door needs {name}\ngoals = {name}\nmap:\n.🗝D")
    assert world.space.names == ("position", name)
    assert world.goals == (name,)
    assert column(walk(world, ">>"), name) == [0, 1, 1]
    again = make_map("x", **json.loads(json.dumps(world.settings)))
    assert sf.tabulate(again).fingerprint == sf.tabulate(world).fingerprint


ERRORS = [
    ("T = pick-up tool\nmap:\n#.T\n#?.", "line 4, column 2: this cell has the unknown glyph '?' (known: '#' wall, '.' free, 'T' pick-up tool)"),
    ("map:\n. .", "line 2, column 2: this cell has the unknown glyph ' ' (known: '#' wall, '.' free)"),
    ("map:\n...\n..", "line 3, column 3: this row has 2 cells, the first has 3"),
    ("\nmap:\n\n...\n....", "line 5, column 4: this row has 4 cells, the first has 3"),
    ("T = pick-up tool\nmap:\n..#T#", "line 3, column 4: this cell cannot be reached"),
    ("map:\n..\n\nT = pick-up tool", "line 4, column 1: the map has already ended; everything else belongs above map:"),
    ("map:\n", "line 1, column 1: no map follows; draw it below this line"),
    ("map:\n##\n##", "line 2, column 1: the map has fewer than two cells to walk on"),
    ("map:\n#.", "line 2, column 1: the map has fewer than two cells to walk on"),
    ("map:\n@.\n.@", "line 3, column 2: there is a second '@'; remove one"),
    ("T = pickup tool\nmap:\n.T", "line 1, column 5: unknown word 'pickup': did you mean 'pick-up'? (known: pick-up, counter, fragile, switch, sets, clears, door, one-way)"),
    ("T = pick-up tool, set wet\nmap:\n.T", "line 1, column 19: unknown word 'set': did you mean 'sets'? (known: pick-up, counter, fragile, switch, sets, clears, door, one-way)"),
    ("slipp = 0.1\nmap:\n..", "line 1, column 1: unknown setting 'slipp': did you mean 'slip'? (known: slip, step limit, goals, stay, or a glyph of one character)"),
    ("  step_limit = 3\nmap:\n..", "line 1, column 3: unknown setting 'step_limit': did you mean 'step limit'? (known: slip, step limit, goals, stay, or a glyph of one character)"),
    ("= pick-up x\nmap:\n..", "line 1, column 1: unknown setting '' (known: slip, step limit, goals, stay, or a glyph of one character)"),
    ("T: pick-up tool\nmap:\n.T", "line 1, column 1: unknown line 'T: pick-up tool' (known: GLYPH = …, slip = …, step limit = …, goals = …, stay = …, tracks …, map:)"),
    ("T = pick-up tool\nmap:\n..", "line 1, column 1: 'T' is not in the map"),
    ("T = pick-up tool\n\n T = fragile cup\nmap:\n.T", "line 3, column 2: 'T' is already defined in line 1"),
    ("slip = 0\nslip = 0.1\nmap:\n..", "line 2, column 1: 'slip' is already defined in line 1"),
    (". = pick-up tool\nmap:\n..", "line 1, column 1: '.' is a free cell in every map; choose another glyph"),
    ("@ = pick-up tool\nmap:\n.@", "line 1, column 1: '@' is a free cell in every map; choose another glyph"),
    ("T =\nmap:\n.T", "line 1, column 4: a word is missing here"),
    ("T = pick-up tool,, sets wet\nmap:\n.T", "line 1, column 18: a word is missing here"),
    ("T = pick-up\nmap:\n.T", "line 1, column 12: the line is incomplete; write 'pick-up NAME'"),
    ("T = pick-up red tool\nmap:\n.T", "line 1, column 17: unexpected 'tool'; write 'pick-up NAME'"),
    ("R = counter coin until 2\nmap:\n.R", "line 1, column 18: expected 'up', got 'until'; write 'counter NAME up to N'"),
    ("R = counter coin\nmap:\n.R", "line 1, column 17: the line is incomplete; write 'counter NAME up to N'"),
    ("R = counter coin up to two\nmap:\n.R", "line 1, column 24: 'two' must be a whole number from 1 to 1,000"),
    ("R = counter coin up to 0\nmap:\n.R", "line 1, column 24: '0' must be a whole number from 1 to 1,000"),
    ("R = counter coin up to 1001\nmap:\n.R", "line 1, column 24: '1001' must be a whole number from 1 to 1,000"),
    (f"R = counter coin up to {'9' * 5000}\nmap:\n.R", f"line 1, column 24: '{'9' * 5000}' must be a whole number from 1 to 1,000"),
    ("slip = 0,1\nmap:\n..", "line 1, column 8: slip is '0,1'; it must be a number, at least 0 and less than 1"),
    ("slip =   1\nmap:\n..", "line 1, column 10: slip is '1'; it must be a number, at least 0 and less than 1"),
    ("slip = nan\nmap:\n..", "line 1, column 8: slip is 'nan'; it must be a number, at least 0 and less than 1"),
    ("step limit = -1\nmap:\n..", "line 1, column 14: '-1' must be a whole number from 1 to 100,000"),
    ("K = pick-up key_red\nD = door needs key_rde\nmap:\n.KD", "line 2, column 16: unknown variable 'key_rde': did you mean 'key_red'? (known: key_red)"),
    ("K = pick-up key\nD = door needs key\nmap:\nKKD", "line 2, column 16: 'key' is key_1, key_2; name one of them"),
    ("D = door key\nmap:\n.D", "line 1, column 10: expected 'needs', got 'key'; write 'door needs [no] NAME'"),
    ("D = door needs no key now\nmap:\n.D", "line 1, column 23: unexpected 'now'; write 'door needs [no] NAME'"),
    ("L = switch a\nD = door needs a, door needs no a\nmap:\nLD", "line 2, column 33: 'D' names 'a' twice"),
    ("A = one-way rigth\nmap:\n.A.", "line 1, column 13: unknown direction 'rigth': did you mean 'right'? (known: up, right, down, left)"),
    ("A = one-way\nmap:\n.A.", "line 1, column 12: the line is incomplete; write 'one-way DIRECTION'"),
    ("A = one-way up, one-way up\nmap:\n.A.", "line 1, column 25: 'A' names 'up' twice"),
    ("T = pick-up a, sets a\nmap:\n.T", "line 1, column 21: 'T' names 'a' twice"),
    ("T = pick-up a\nU = fragile a\nmap:\nTU", "line 2, column 13: 'a' is already defined in line 1 (pick-up a); choose another name"),
    ("T = counter a up to 2\nU = counter a up to 3\nmap:\nTU", "line 2, column 13: 'a' is already defined in line 1 (counter a up to 2); choose another name"),
    ("T = sets a\nU = pick-up a\nmap:\nTU", "line 2, column 13: 'a' is already defined in line 1 (sets a); choose another name"),
    ("T = pick-up a\nU = pick-up a_2\nmap:\nTTU", "line 2, column 13: two variables would be named 'a_2'; choose another name"),
    ("T = pick-up position\nmap:\n.T", "line 1, column 13: two variables would be named 'position'; choose another name"),
    ("T = pick-up a=b\nmap:\n.T", "line 1, column 13: the name 'a=b' may not contain '=' or '+'"),
    ("T = pick-up a+b\nmap:\n.T", "line 1, column 13: the name 'a+b' may not contain '=' or '+'"),
    ("T = sets a\ngoals = a, b\nmap:\n.T", "line 2, column 12: unknown goal 'b' (known: a)"),
    ("T = sets a\ngoals = a b\nmap:\n.T", "line 2, column 11: unexpected 'b'; write 'NAME'"),
    ("goals =\nmap:\n..", "line 1, column 8: a word is missing here"),
    ("M = sets a\ntracks b while a up to 2\ntracks c while a up to 2\nmap:\n.M", "line 3, column 1: tracks are already defined in line 2"),
    ("tracks b while a up to 2\nmap:\n..", "line 1, column 16: unknown variable 'a': the legend names none"),
    ("M = sets a\ntracks b while b up to 2\nmap:\n.M", "line 2, column 16: unknown variable 'b' (known: a)"),
    ("M = sets a\ntracks a while a up to 2\nmap:\n.M", "line 2, column 8: two variables would be named 'a'; choose another name"),
    ("M = sets a\ntracks b when a up to 2\nmap:\n.M", "line 2, column 10: expected 'while', got 'when'; write 'tracks NAME while [no] NAME up to N'"),
    ("M = sets a\ntracks b while a up to 2\nmap:\nMM", "line 2, column 8: the map has no free cell for tracks"),
    (f"S = sets a\nT = pick-up tool\nmap:\nS{'T' * 59}", "line 2, column 13: there are more than 60 variables; draw fewer such cells"),
    ("slip\t= 0.1\nmap:\n..", "line 1, column 5: this is a tab; use spaces"),
    ("map:\n..\n#\t", "line 3, column 2: this is a tab; use spaces"),
    ("T = pick-up \x1b[31m\nmap:\n.T", "line 1, column 13: the character '\\x1b' is not allowed"),
    ("map:\n..\u2028..", "line 2, column 3: the character '\\u2028' is not allowed"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=range(len(ERRORS)))
def test_mistakes_are_told_with_their_line_and_column(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my-map.txt").write_bytes(text.encode())
    with pytest.raises(UserError) as caught:
        read_map("my-map.txt")
    assert str(caught.value) == f"my-map.txt, {message}"


def test_whole_files_that_are_no_maps_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a folder").mkdir()
    for data, message in [
        (b"", "is empty; write a legend, map: and a drawing"),
        (b" \r\n\n", "is empty; write a legend, map: and a drawing"),
        (b"#####\n#...#\n#####\n", "has no map; write map: and below it the drawing"),
        ("# é\n# ü".encode() + b"\xff\n", ", line 2, column 4: the byte 0xff is not UTF-8; save the file as UTF-8 text"),
        ("map:\n..".encode("utf-16"), ", line 1, column 1: the byte 0xff is not UTF-8; save the file as UTF-8 text"),
    ]:  # fmt: skip
        Path("m.txt").write_bytes(data)
        with pytest.raises(UserError) as caught:
            read_map("m.txt")
        assert str(caught.value) in (f"m.txt {message}", f"m.txt{message}")
    with pytest.raises(UserError, match=r"^there is no map file maps/none\.txt$"):
        read_map("maps/none.txt")
    with pytest.raises(UserError, match=r"the map file a folder cannot be read: .*directory"):
        read_map(Path("a folder"))
    with pytest.raises(UserError, match="cannot be read: embedded null"):
        read_map("a\0b")


@pytest.mark.parametrize("settings", [{}, {"text": 3}, {"text": "map:\n..", "slip": 0.2}])
def test_settings_that_are_no_map_s_are_refused(settings):
    with pytest.raises(UserError, match="map:x takes one setting, text"):
        make_map("x", **settings)


def test_errors_of_remade_worlds_name_the_world():
    with pytest.raises(UserError, match=r"^map:old, line 2, column 2: this cell has the unknown"):
        make_map("old", text="map:\n.?")


def test_map_errors_survive_a_process_boundary():
    with pytest.raises(UserError) as caught:
        sf.make("four-rooms", drawing="#T?#")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


PIECES = [
    "A = pick-up gem", "B = counter coin up to 2", "C = fragile cup", "D = switch lamp",
    "E = sets wet", "F = clears wet, switch lamp", "G = door needs wet", "H = door needs no lamp",
    "I = pick-up hat, door needs hat", "J = pick-up ring, door needs no ring",
    "K = one-way right", "L = one-way up, pick-up nut",
]  # fmt: skip


@st.composite
def drawn_maps(draw):
    """Maps with little wrong but that cells may be out of reach."""
    width = draw(st.integers(2, 4))
    row = st.text("ABCDEFGHIJKL......#", min_size=width, max_size=width)
    rows = "\n".join(draw(st.lists(row, min_size=2, max_size=4)))
    needs = {"G": "EF", "H": "DF"}
    for glyph, sources in needs.items():
        if not set(sources) & set(rows):
            rows = rows.replace(glyph, ".")
    legend = [piece for piece in PIECES if piece[0] in rows]
    if "E" in rows and "." in rows and draw(st.booleans()):
        legend.append("tracks prints while wet up to 2")
    slip = draw(st.floats(0, 1, exclude_max=True))
    return "\n".join([f"slip = {slip}", *legend, "map:", rows])


@given(drawn_maps())
def test_random_maps_tabulate_and_remake_or_name_the_problem(text):
    try:
        world = make_map("random", text=text)
    except UserError as error:
        assert str(error).startswith("map:random, line ")
        return
    if world.space.n_combinations > 1000:
        return
    mdp = sf.tabulate(world)
    assert np.allclose(mdp.probabilities.sum(axis=2), 1)
    assert mdp.n_states == world.space.n_combinations
    changing = np.any(mdp.can_change, axis=0)
    assert world.fixed == tuple(
        n for n, c in zip(world.space.names, changing, strict=True) if not c
    )
    again = make_map("random", **json.loads(json.dumps(world.settings)))
    assert sf.tabulate(again).fingerprint == mdp.fingerprint


@given(st.text(), st.text("#.@TK=, \nmap:pick-udoorneds", max_size=80))
def test_any_text_is_a_map_or_a_named_problem(anything, likely):
    for text in (anything, likely, f"{anything}\nmap:\n{likely}"):
        try:
            make_map("any", text=text)
        except UserError as error:
            assert str(error).startswith("map:any")


def test_the_docs_show_the_museum_and_true_messages():
    page = (ROOT / "docs" / "maps.md").read_text()
    example, market, messages = page.split("```\n")[1::2]
    assert example == (MAPS / "museum.txt").read_text()
    assert make_map("market", text=market).goals == ("bread",)
    mistakes = [
        "\n\n\nT = pickup tool\nmap:\n.T",
        "\n\nK = pick-up key\n\n\nD = door needs kye\nmap:\n.KD",
        "\n\n\n\n\n\nmap:\n............\n...........",
        "\n\n\n\n\n\n\nmap:\n...\n###\n##.",
    ]
    for text, message in zip(mistakes, messages.splitlines(), strict=True):
        with pytest.raises(UserError) as caught:
            make_map("x", text=text)
        assert str(caught.value) == message.replace("my-map.txt", "map:x")


def test_the_docs_list_every_word_and_setting():
    page = (ROOT / "docs" / "maps.md").read_text()
    for kind in FEATURES.values():
        assert f"\n| `{kind.form}` | " in page
    for name, default in SETTINGS.items():
        row = re.search(rf"\n\| `{name} = [^`]+` \| .+ \| (.+) \|\n", page)
        assert row
        assert row.group(1) == default or name == "goals"


@pytest.mark.slow
def test_strange_names_are_shown_as_text(tmp_path, capsys):
    """Markup of the terminal and of the figures is not obeyed in names."""
    from rich.console import Console

    from skillfocus.cli.printing import effects_tables
    from skillfocus.figures import draw_skills
    from skillfocus.metrics.summary import origin, skill_records

    world = make_map(
        "odd", text="T = pick-up [red]hot[/]\nU = pick-up $x^$\n\nmap:\n#####\n#T.U#\n#####"
    )
    quick = sf.Planning(rounds=1)
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=quick)
    draw_skills(skills, tmp_path / "odd.png")
    run = {**origin(skills), "skills": skill_records(skills)}
    Console(width=120).print(*effects_tables([run]))
    shown = capsys.readouterr().out
    assert "[red]hot[/]" in shown
    assert "$x^$" in shown
