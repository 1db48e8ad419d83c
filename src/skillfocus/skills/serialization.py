"""A file of skills: one safetensors file with the arrays, the policies compressed, and in its
metadata a digest of everything, then a JSON header. Reading one parses and checks; nothing in it is
ever run."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from skillfocus._internal.atomic_io import shorten
from skillfocus.errors import UserError
from skillfocus.skills.header import MAX_ENTRIES, VERSION, WITH_ACTORS, check_header

FORMAT = "skillfocus-skills"
FIRST_COMPRESSED = 4
"""The first version whose policies are compressed."""
DIGEST = 64
"""Characters of the digest that stands before the header."""
POLICY = "policy"
MAX_HEADER = 16_000_000
"""The most characters of a header."""


def pack(header: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> bytes:
    """What a file with this header and these arrays holds."""
    from safetensors.numpy import save

    text = json.dumps(header, sort_keys=True)
    in_order = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save(in_order, metadata={"skillfocus": digest_of(text, arrays) + text})


def digest_of(header: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Over the header's text, then the arrays' bytes in alphabetical order of their names."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def read(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    """Return the arrays and the checked header of a file.

    Raises:
        UserError: If the file is not whole, not of skills, or has a header of another form.
    """
    from safetensors import SafetensorError, safe_open

    if os.path.isdir(path):
        raise UserError(f"{path} is a folder: name the files in it, such as {path / '*.skills'}")
    if not os.path.isfile(path):
        wanted = (
            "" if path.suffix == ".skills" else "; name files of skills, as discover writes them"
        )
        raise UserError(f"there is no file {shorten(path)}{wanted}")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if "skillfocus" not in metadata or POLICY not in file.keys():  # noqa: SIM118
                raise UserError(f"{path} was not written by skillfocus")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    except (SafetensorError, TypeError, AttributeError):
        raise UserError(
            f"{path} is not a file of skills, or not a whole one: such files are written by "
            f"skillfocus discover and skills.save"
        ) from None
    if arrays[POLICY].dtype != np.uint8 or arrays[POLICY].ndim != 1:
        raise UserError(f"{path} is not a usable skills file: its policies are not bytes")
    digest, text = metadata["skillfocus"][:DIGEST], metadata["skillfocus"][DIGEST:]
    if digest_of(text, arrays) != digest:
        raise UserError(f"{path} is damaged: its contents do not match its digest")
    if len(text) > MAX_HEADER:
        raise UserError(
            f"{path} is not a usable skills file: its header has {len(text):,} characters, more "
            f"than {MAX_HEADER:,}"
        )
    try:
        header = json.loads(text)
        json.dumps(header, ensure_ascii=False).encode()  # fails for halves of surrogate pairs
    except (ValueError, RecursionError):
        raise UserError(f"{path} is not a usable skills file: its header is not JSON") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UserError(f"{path} was not written by skillfocus")
    version = header.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UserError(
            f"{path} has version {version} of the format, this program reads up to version "
            f"{VERSION}: use the skillfocus that wrote it"
        )
    try:
        check_header(header)
    except UserError as error:
        raise UserError(f"{path} is not a usable skills file: bad header ({error})") from None
    if version == WITH_ACTORS:
        return arrays, header
    if "learned" not in header and "networks" not in header and len(arrays) > 1:
        raise UserError(f"{path} was not written by skillfocus")
    if "networks" in header and len(arrays[POLICY]):
        raise UserError(f"{path} is not a usable skills file: it has tables and networks")
    return arrays, header


def compress(content: bytes | np.ndarray, level: int = 1) -> np.ndarray:
    """Return the bytes of policies as a zlib stream, uint8."""
    whole = content if isinstance(content, bytes) else content.tobytes()
    return np.frombuffer(zlib.compress(whole, level=level), dtype=np.uint8)


def decompress(stream: np.ndarray, path: Path) -> np.ndarray:
    """Return what `compress` was given, as an array of uint8.

    Raises:
        UserError: If the stream is not a whole one, or holds more than `MAX_ENTRIES`.
    """
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(stream.tobytes(), MAX_ENTRIES)
    except zlib.error:
        content = b""
    if not inflate.eof or inflate.unused_data:
        raise UserError(
            f"{path} is not a usable skills file: its policies are not a zlib stream of up to "
            f"{MAX_ENTRIES:,} bytes"
        )
    return np.frombuffer(bytearray(content), dtype=np.uint8)  # kernels take arrays they could write
