"""What strangers' files say does not control the terminal."""

from __future__ import annotations

import io

import pytest
from rich.text import Text

import skillfocus as sf
from commands import command
from forging import rewrite
from probes import corridor
from skillfocus.cli import printing
from skillfocus.progress import ProgressBar, make_console
from skillfocus.worlds.explored import exploration_progress

EVIL = "\x1b[2J\x1b]52;c;aGk=\x07\x9b31m\u202e\x7f"
SEEN = "[2J]52;c;aGk=31m"
"""What is left of `EVIL`."""


@pytest.fixture
def file(tmp_path):
    """A file whose map, objective and learner are named by a stranger."""
    (tmp_path / f"lamp{EVIL}.txt").write_text("L = switch lamp\nmap:\n...L\n")
    world = sf.make(str(tmp_path / f"lamp{EVIL}.txt"))
    learner = sf.Planning(rounds=1)
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, n_skills=4, learner=learner)

    def forge(header, arrays):
        header["info"]["objective"]["name"] = f"vic{EVIL}"
        header["info"]["learner"]["name"] = f"planning{EVIL}"

    file = skills.save(tmp_path / "a.skills")
    rewrite(file, forge)
    return file


@pytest.mark.slow
def test_tables_and_messages_hold_no_control_characters(file, tmp_path):
    one = command("evaluate", "a.skills", "--coverage", cwd=tmp_path)
    assert f"vic{SEEN} in map:lamp{SEEN} by" in one.stdout
    assert f"planning{SEEN}, seed 0" in one.stdout
    two = command("evaluate", "a.skills", "a.skills", cwd=tmp_path)
    described = command("describe", f"lamp{EVIL}.txt", cwd=tmp_path)
    assert f"map:lamp{SEEN}: " in described.stdout
    (tmp_path / f"{EVIL}.skills").write_text("no skills")
    refused = command("evaluate", f"{EVIL}.skills", cwd=tmp_path)
    assert (refused.returncode, one.returncode, two.returncode) == (2, 0, 0)
    for done in (one, two, described, refused):
        for character in done.stdout + done.stderr:
            assert character.isprintable() or character in "\n\t", repr(character)


def test_names_in_a_header_do_not_either(tmp_path):
    skills = sf.discover(
        corridor(), sf.focused(sf.vic()), seed=0, n_skills=4, learner=sf.Planning(rounds=1)
    )
    file = skills.save(tmp_path / "a.skills")
    for name in ("targets", "context_variables"):
        rewrite(file, lambda header, arrays, name=name: header[name].__setitem__(0, [EVIL]))
        refused = command("evaluate", "a.skills", cwd=tmp_path)
        assert refused.returncode == 2
        assert "\x1b" not in refused.stdout + refused.stderr
        skills.save(file)
    rewrite(file, lambda header, arrays: header["world"].update(id=f"{EVIL}\nall is well"))
    for world in ([], ["--world", "four-rooms"]):
        refused = command("evaluate", "a.skills", *world, cwd=tmp_path)
        assert refused.returncode == 2
        assert "\x1b" not in refused.stderr
        assert len([line for line in refused.stderr.splitlines() if line.strip()]) == 1


def test_a_terminal_keeps_its_own_colours_and_bars():
    out = io.StringIO()
    terminal = make_console(file=out, force_terminal=True, color_system="standard", width=100)
    terminal.print(Text(f"a{EVIL}b", style="red"))
    assert out.getvalue() == f"\x1b[31ma{SEEN}b\x1b[0m\n"
    with ProgressBar(terminal, f"title{EVIL}") as bar:
        bar(0.5, f"activity{EVIL}")
    shown = out.getvalue()
    assert f"activity{SEEN}" in shown
    assert "\x1b]52" not in shown
    assert "\x9b" not in shown


NAMED = "my:cat:[red]x[/red]"


def test_names_of_users_are_neither_emoji_nor_markup(monkeypatch):
    """On every line that shows them: bars, exploring worlds, tables."""
    out = io.StringIO()
    terminal = make_console(file=out, force_terminal=True, width=200)
    monkeypatch.setattr(printing, "err", terminal)
    monkeypatch.setattr(printing, "SILENT_SECONDS", 0.0)
    with printing.progress_on_stderr(NAMED) as bar:
        bar(0.5, NAMED)
    assert out.getvalue().count(NAMED) >= 2
    with printing.shown_exploration():
        exploration_progress.get()(0.5, f"exploring {NAMED}")
    assert f"exploring {NAMED}" in out.getvalue()
    terminal.print(printing.table(NAMED, [f"column {NAMED}"], [[f"cell {NAMED}"]]))
    assert f"column {NAMED}" in out.getvalue()
    assert f"cell {NAMED}" in out.getvalue()
