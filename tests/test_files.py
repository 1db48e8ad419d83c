"""Atomic writes, names of files, and sealed arrays."""

from __future__ import annotations

import os

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillfocus.errors import UserError
from skillfocus.files import (
    Damaged,
    check_file_path,
    file_name,
    remove_leftovers,
    seal,
    set_aside,
    unseal,
    write_atomically,
)


class Header(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    sizes: list[int] = []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is a folder; name a file to write"),
        ("a" * 300, "File name too long; use another name"),
        ("a\0b", "null|embedded"),
        ("nowhere/a.txt", "there is no folder .* to write a.txt to"),
    ],
)
def test_a_file_that_cannot_be_written_is_known_before(name, message, tmp_path):
    with pytest.raises(UserError, match=message) as error:
        check_file_path(tmp_path / name)
    assert len(str(error.value)) < 300 + len(str(tmp_path))
    with pytest.raises(UserError):
        write_atomically(tmp_path / name, b"")


def test_a_full_disk_is_one_sentence_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_atomically(path, b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"cannot write .*: No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_leftovers_of_dead_processes_are_removed(tmp_path):
    import socket

    (tmp_path / f".999999999@{socket.gethostname()}~a").touch()
    (tmp_path / f".{os.getpid()}@{socket.gethostname()}~b").touch()
    (tmp_path / ".999999999@elsewhere~c").touch()
    remove_leftovers(tmp_path)
    assert len(os.listdir(tmp_path)) == 2


def test_files_set_aside_are_numbered(tmp_path):
    (tmp_path / "aside").mkdir()
    for name in ("a", "a.1", "a.2"):
        (tmp_path / "a").touch()
        assert set_aside(tmp_path / "a", tmp_path / "aside").name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [("a b/c", "a_b_c"), ("x" * 200, "x" * 100), ("con", "_con"), ("", "_"), ("é=1.5", "_=1.5")],
)
def test_names_that_every_system_accepts(text, name):
    assert file_name(text) == name


ARRAYS = {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": np.array([0.5, -1.0])}


@pytest.mark.parametrize("compress", [0, 1])
def test_what_was_sealed_comes_back(compress):
    arrays = {**ARRAYS, "turned": np.asfortranarray(ARRAYS["a"]), "none": np.zeros((0, 3))}
    header, found = unseal(seal(Header("x", [1]), arrays, compress), Header)
    assert header == Header("x", [1])
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(found[name], array)


@pytest.mark.parametrize("compress", [0, 1])
def test_a_flipped_bit_anywhere_is_noticed(compress):
    content = seal(Header("x"), ARRAYS, compress)
    for place in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        with pytest.raises(UserError):
            unseal(bytes(flipped), Header)
    for end in range(len(content)):
        with pytest.raises(Damaged):
            unseal(content[:end], Header)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(content):
    with pytest.raises(Damaged):
        unseal(content, Header)


class Other(msgspec.Struct):
    name: int


def test_another_header_is_refused():
    with pytest.raises(UserError, match="Expected `str`, got `int`"):
        unseal(seal(Other(3), ARRAYS), Header)
