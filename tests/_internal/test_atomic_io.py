from __future__ import annotations

import pytest

from skillfocus._internal.atomic_io import check_file_path, unused_path, write_atomically
from skillfocus.errors import UserError


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is a folder; name a file to write"),
        ("a" * 300, "File name too long; use another name"),
        ("a\0b", "null|embedded"),
        ("nowhere/a.txt", "there is no folder .* to write a.txt to"),
        ("a" * 300 + "/b", "there is no folder|File name too long"),
    ],
)
def test_a_file_that_cannot_be_written_is_known_before(name, message, tmp_path):
    with pytest.raises(UserError, match=message) as error:
        check_file_path(tmp_path / name)
    assert len(str(error.value)) < 300 + len(str(tmp_path))
    with pytest.raises(UserError):
        write_atomically(tmp_path / name, b"")


def test_files_that_can_be_written(tmp_path):
    check_file_path(tmp_path / "a.txt")
    write_atomically(tmp_path / "a.txt", b"1")
    check_file_path(tmp_path / "a.txt")


def test_an_unused_path_is_numbered(tmp_path):
    path = tmp_path / "a.txt"
    assert unused_path(path) == path
    for number in range(1, 4):
        unused_path(path).touch()
        assert unused_path(path).name == f"a.txt.{number}"
