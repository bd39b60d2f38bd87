"""Archives of several files, held as one."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["files", "pack", "unpack"]


def files(data: bytes) -> dict[str, bytes]:
    """Return the files in an archive by name."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        streams = {entry.name: tar.extractfile(entry) for entry in tar.getmembers()}
        return {name: stream.read() for name, stream in streams.items() if stream is not None}


def pack(content: Mapping[str, bytes]) -> bytes:
    """Return an archive of files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in content.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def unpack(data: bytes, folder: Path) -> None:
    """Write the files of an archive, which is one of ours, into a folder."""
    for name, content in files(data).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
