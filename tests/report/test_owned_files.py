from __future__ import annotations

import json

import pytest

from skillfocus.report.owned_files import MANIFEST, KeptFileWarning, write_owned_files


def write(folder, *names: str, suffixes=(".png",)) -> set[str]:
    """Write files that hold their names; return what the folder then has."""
    write_owned_files(folder, {name: name.encode() for name in names}, suffixes)
    return {path.name for path in folder.iterdir()} - {MANIFEST}


def test_files_of_an_earlier_call_are_replaced(tmp_path):
    assert write(tmp_path / "new", "a.png", "b.png") == {"a.png", "b.png"}
    assert write(tmp_path / "new", "b.png", "c.png") == {"b.png", "c.png"}


def test_files_that_are_not_listed_or_were_changed_stay(tmp_path):
    write(tmp_path, "a.png", "b.png")
    (tmp_path / "photo.png").write_bytes(b"mine")
    (tmp_path / "b.png").write_bytes(b"changed")
    assert write(tmp_path, "c.png") == {"b.png", "c.png", "photo.png"}
    assert write(tmp_path) == {"b.png", "photo.png"}


def test_files_of_other_suffixes_stay_listed(tmp_path):
    write(tmp_path, "a.html")
    assert write(tmp_path, "b.png") == {"a.html", "b.png"}
    assert write(tmp_path, suffixes=(".html",)) == {"b.png"}


def test_files_that_are_not_ours_are_never_overwritten(tmp_path):
    write(tmp_path, "a.png", "b.png")
    (tmp_path / "a.png").write_bytes(b"changed")
    (tmp_path / "c.png").write_bytes(b"a photo")
    (tmp_path / "c.png.1").write_bytes(b"another photo")
    (tmp_path / "d.png").mkdir()
    with pytest.warns(KeptFileWarning, match=r"they are now a.png.1, c.png.2, d.png.1"):
        write(tmp_path, "a.png", "b.png", "c.png", "d.png")
    assert (tmp_path / "a.png.1").read_bytes() == b"changed"
    assert (tmp_path / "c.png.1").read_bytes() == b"another photo"
    assert (tmp_path / "c.png.2").read_bytes() == b"a photo"
    assert (tmp_path / "d.png.1").is_dir()
    for name in ("a.png", "b.png", "c.png", "d.png"):
        assert (tmp_path / name).read_bytes() == name.encode()
    write(tmp_path, "a.png", "c.png")  # now they are ours


def test_the_same_content_needs_no_second_file(tmp_path):
    (tmp_path / "a.png").write_bytes(b"a.png")
    assert write(tmp_path, "a.png") == {"a.png"}


@pytest.mark.parametrize("manifest", ["", "[]", '{"files": 3}', "{}", '{"files": ["a.png"]}'])
def test_a_broken_manifest_lists_nothing(manifest, tmp_path):
    (tmp_path / MANIFEST).write_text(manifest)
    (tmp_path / "a.png").write_bytes(b"a.png")
    assert write(tmp_path, "b.png") == {"a.png", "b.png"}


def test_a_manifest_cannot_reach_other_folders(tmp_path):
    write(tmp_path / "report", "a.png")
    (tmp_path / "outside.png").write_bytes(b"a.png")
    path = tmp_path / "report" / MANIFEST
    digest = json.loads(path.read_text())["files"]["a.png"]
    path.write_text(json.dumps({"files": {"../outside.png": digest}}))
    write(tmp_path / "report", "b.png")
    assert (tmp_path / "outside.png").is_file()
