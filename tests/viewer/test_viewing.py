from __future__ import annotations

import pytest

import skillfocus as sf
from probes import RandomWorld
from skillfocus.errors import UserError
from skillfocus.viewer import page as viewing
from skillfocus.viewer.page import page_path, read_asset, view


@pytest.fixture
def shown(monkeypatch):
    """What `view` passes to `write_page`, without writing the page."""
    calls = []

    def write_page(sets, path, title, progress):
        calls.append(sets)
        progress(1.0, "written")
        return path

    monkeypatch.setattr(viewing, "write_page", write_page)
    return calls


def test_the_page_is_beside_the_first_file(focused_vic, tmp_path, shown):
    focused_vic.save(tmp_path / "focused.skills")
    assert view(tmp_path / "focused.skills") == tmp_path / "focused.html"
    assert [one.label for one in shown[0]] == ["focused-vic, seed 0"]


def test_sets_with_the_same_label_are_called_by_their_files(focused_vic, tmp_path, shown):
    for name in ("one", "two"):
        focused_vic.save(tmp_path / f"{name}.skills")
    view([tmp_path / "one.skills", tmp_path / "two.skills"])
    assert [one.label for one in shown[0]] == ["one", "two"]


def test_task_and_coverage_are_added_when_asked(focused_vic, tmp_path, shown):
    reported = []
    out = tmp_path / "new" / "page.html"
    assert view(focused_vic, out, progress=lambda *now: reported.append(now[0])) == out
    assert out.parent.is_dir()
    view(focused_vic, out, task="proxy", coverage=True)
    (plain,), (full,) = shown
    assert (plain.task, plain.coverage) == (None, None)
    assert (full.task.name, full.reward, len(full.coverage)) == ("tools", "proxy", 5)
    assert full.solution.q.shape[0] == focused_vic.mdp.n_states
    assert reported == [0.0, 1.0]


def test_without_a_task_there_is_no_agent_to_watch(tmp_path):
    skills = sf.discover(RandomWorld(0), sf.vic(), seed=0, n_skills=2)
    with pytest.raises(UserError, match=r"no agent to watch: leave task \(--task\) out"):
        view(skills, tmp_path / "page.html", task="true")


def test_skills_are_shown_on_a_page_alone(focused_vic, tmp_path):
    with pytest.raises(UserError, match=r"page.png: use a name that ends in .html"):
        focused_vic.view(tmp_path / "page.png")


def test_a_file_that_is_not_a_page_is_overwritten_only_if_it_is_named(focused_vic, tmp_path, shown):
    focused_vic.save(tmp_path / "focused.skills")
    (tmp_path / "focused.html").write_text("<p>my notes</p>")
    with pytest.raises(UserError, match=r"focused.html exists and is not a page of skills"):
        view(tmp_path / "focused.skills")
    view(tmp_path / "focused.skills", tmp_path / "focused.html")
    (tmp_path / "focused.html").write_text(read_asset("page.html"))
    view(tmp_path / "focused.skills")


@pytest.mark.parametrize("name", ["", "a" * 300 + ".html", "folder.html"])
def test_a_page_that_cannot_be_written_is_refused_at_once(name, tmp_path):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(UserError, match=r"name that ends in .html|too long|is a folder"):
        page_path(tmp_path / name, None)


def test_a_source_is_a_file(tmp_path):
    with pytest.raises(UserError, match="is a folder: name files of skills"):
        view("")


def test_pages_need_a_name(focused_vic, tmp_path):
    with pytest.raises(UserError, match="give out="):
        view(focused_vic)
    with pytest.raises(UserError, match=r"use a name that ends in \.html"):
        view(focused_vic, tmp_path / "page.png")
    assert page_path("a.htm", None).name == "a.htm"
