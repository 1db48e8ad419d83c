from __future__ import annotations

import json

import pytest

from commands import command


@pytest.fixture(scope="module")
def folder(tmp_path_factory, focused_vic):
    folder = tmp_path_factory.mktemp("view")
    focused_vic.save(folder / "focused.skills")
    return folder


@pytest.mark.slow
def test_a_page_is_written_beside_the_file(folder):
    done = command("view", "focused.skills", "--coverage", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = folder / "focused.html"
    assert json.loads(done.stdout) == {"page": "focused.html", "bytes": page.stat().st_size}
    assert page.read_text().lower().startswith("<!doctype html>")


@pytest.mark.slow
def test_a_rollout_is_exported(folder):
    done = command(
        "view", "focused.skills", "--export", "fetch.svg", "--skill", "2", "--json", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["file"], document["skill"]) == ("fetch.svg", 2)
    assert (folder / "fetch.svg").read_text().startswith("<svg")
    done = command("view", "focused.skills", "--export", "fetch.svg", cwd=folder)
    assert "exported: fetch.svg, skill " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name at least one file of skills"),
        (["focused.skills", "--out", "page.png"], "use a name that ends in .html"),
        (["focused.skills", "--export", "x.gif", "--slips", "-1"], "slips is -1"),
        (["focused.skills", "--export", "x.gif", "--skill", "99"], "numbered 0 to 15"),
        (["focused.skills", "--export", "x.gif", "--start", "tool_1=7"], "tool_1 can be 0, 1"),
    ],
)
def test_usage_errors_of_view(folder, arguments, message):
    done = command("view", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
