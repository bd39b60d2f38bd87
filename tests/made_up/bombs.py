"""Small files that claim, or expand to, far more than a machine has."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib

import numpy as np
from numpy.lib import format as npy

MUCH = 400 << 20
"""Bytes: more than a command may take."""


def zeros(length: int = MUCH) -> bytes:
    """Return a stream of deflate, without header, that becomes zeros."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (length >> 20) + packer.flush()


def header(shape: str, dtype: str = "<f8") -> bytes:
    """Return the beginning of an .npy file."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return npy.MAGIC_PREFIX + b"\1\0" + struct.pack("<H", len(text)) + text.encode()


def npz(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of arrays; ``stddev`` is a good one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in {"stddev.npy": array(), **members}.items():
            archive.writestr(name, content)
    return stream.getvalue()


def array() -> bytes:
    """Return an undamaged matrix as an .npy file."""
    stream = io.BytesIO()
    np.save(stream, np.zeros((2, 2)))
    return stream.getvalue()


def npz_of_zeros() -> bytes:
    """Return an archive with a matrix of nothing but zeros."""
    side = int((MUCH / 8) ** 0.5)
    return npz({"avg.npy": header(f"({side}, {side})") + bytes(side * side * 8)})


def npz_with_a_small_directory() -> bytes:
    """Return the same, with a directory that says that the matrix is small."""
    data = npz_of_zeros()
    at = data.rindex(b"PK\1\2")
    return data[: at + 24] + struct.pack("<I", 160) + data[at + 28 :]


def npz_in_npz() -> bytes:
    """Return an archive whose array is an archive."""
    return npz({"avg.npy": npz_of_zeros()})


def npz_with_a_large_window() -> bytes:
    """Return an archive that asks for 4 GiB to be decompressed."""
    data = npz({"avg.npy": array()}, zipfile.ZIP_LZMA)
    return data.replace(struct.pack("<HB", 5, 93), struct.pack("<HB", 5, 93)).replace(
        struct.pack("<BI", 93, 1 << 23), struct.pack("<BI", 93, 0xFFFFFFFF)
    )


def element(kind: int, content: bytes) -> bytes:
    """Return an element of a MATLAB file."""
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def matrix(kind: int, sizes: tuple[int, int], content: bytes, name: bytes = b"avg") -> bytes:
    """Return a variable of a MATLAB file."""
    flags = element(6, struct.pack("<II", kind, 0))
    return element(14, flags + element(5, struct.pack("<ii", *sizes)) + element(1, name) + content)


def mat(*variables: bytes) -> bytes:
    """Return a MATLAB file of version 5."""
    return (
        b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM" + b"".join(variables)
    )


def packed(variable: bytes) -> bytes:
    """Return a variable, compressed."""
    content = zlib.compress(variable)
    return struct.pack("<II", 15, len(content)) + content


def mat_of_zeros() -> bytes:
    """Return a MATLAB file with a matrix of nothing but zeros."""
    side = int((MUCH / 8) ** 0.5)
    start = matrix(6, (side, side), b"")
    start = start[:4] + struct.pack("<I", len(start) + side * side * 8) + start[8:]
    tag = struct.pack("<II", 9, side * side * 8)
    packer = zlib.compressobj(9, wbits=-15)
    content = packer.compress(start + tag) + packer.flush(zlib.Z_FULL_FLUSH) + zeros(side**2 * 8)
    content = b"\x78\x9c" + content + b"\0\0\0\0"
    return mat(struct.pack("<II", 15, len(content)) + content)


CHARS, CELL, STRUCT, SPARSE = 4, 1, 2, 5
LARGE = (2**31 - 1, 2**31 - 1)

MATLAB = {
    "numbers": matrix(6, (50000, 50000), element(9, bytes(32))),
    "chars": matrix(CHARS, (50000, 50000), element(16, b"")),
    "cells": matrix(CELL, LARGE, b"", b"hosts"),
    "structs": matrix(STRUCT, LARGE, element(5, struct.pack("<i", 32)) + element(1, b"")),
    "structs-in-cells": matrix(
        CELL, (1, 1), matrix(STRUCT, LARGE, element(5, struct.pack("<i", 32)), b""), b"hosts"
    ),
    "sparse": matrix(SPARSE, LARGE, element(5, b"") * 3),
    "dimensions": element(
        14,
        element(6, struct.pack("<II", 6, 0))
        + element(5, struct.pack("<i", 2**31 - 1) * 100_000)
        + element(1, b"avg"),
    ),
    "empty-cells": matrix(CELL, (1000, 100), element(14, b"") * 100_000, b"hosts"),
    "a-tag": matrix(6, (2, 2), struct.pack("<II", 9, 0xFFFFFFF0)),
}
"""Variables that claim far more than they hold."""


def run(ranks: int, *lines: str) -> str:
    """Return a run file of a sweep with these records."""
    start = {
        "record": "run",
        "format": 1,
        "experiment": "point-to-point",
        "kind": "sweep",
        "by": [],
        "ranks": ranks,
        "options": {},
        "mpi": {},
        "clock": {},
    }
    return "\n".join([json.dumps(start), *lines, ""])


def wide(records: int = 8000) -> str:
    """Return a run file whose samples have hardly a member in common."""
    samples = (f'{{"record":"sample","bytes":8,"seconds":1e-6,"x{k}":1}}' for k in range(records))
    return run(2, *samples)


def laughs(levels: int = 9) -> str:
    """Return YAML whose aliases stand for a billion values."""
    lines = ["isochrone: app/1", "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, levels)]
    return "\n".join([*lines, f"apps: *a{levels - 1}", ""])
