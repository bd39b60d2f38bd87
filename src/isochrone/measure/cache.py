"""The folder where programs and libraries are kept that were made for this machine's MPI.

What lies there is run, by administrators as root. So it has to be the user's own, and nobody else
may be able to write to it. Each binary that was compiled ends with a seal, its own hash: one that a
crash or a full disk has cut, or that was changed, is not run.
"""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from isochrone.base.errors import InputError

_SEAL: Final = b"\nisochrone-sealed "
_HINT: Final = "set XDG_CACHE_HOME to a folder of your own"
_DAY: Final = 86400.0


def cache_folder() -> Path:
    """Return the folder, and make it.

    Raises
    ------
    InputError
        If it cannot be made, belongs to somebody else, or others may write to it.
    """
    try:
        base = os.environ.get("XDG_CACHE_HOME") or _home() / ".cache"
    except (RuntimeError, KeyError) as error:  # neither HOME nor an entry for the user
        raise InputError("there is no home folder for what is compiled", hint=_HINT) from error
    folder = Path(base).absolute() / "isochrone"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _check_above(folder.parent)
        folder.mkdir(mode=0o755, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot create it: {error.strerror}", where=str(folder), hint=_HINT
        ) from error
    check_own(folder)
    return folder


def _home() -> Path:
    """Return the home folder; where HOME is empty, that of the user's entry, and not the root."""
    given = os.environ.get("HOME")
    return Path.home() if given != "" else Path(pwd.getpwuid(os.getuid()).pw_dir)


def check_own(path: Path) -> None:
    """Check that nobody but this user, and root, can have put something there.

    Raises
    ------
    InputError
        If it, or the link that leads to it, belongs to somebody else, or others may write to it.
    """
    there = path.stat()
    for owner in {path.lstat().st_uid, there.st_uid} - {0, os.geteuid()}:
        raise InputError(
            f"it belongs to {_user(owner)}: nothing is run from there", where=str(path), hint=_HINT
        )
    groups = there.st_mode & stat.S_IWGRP and not _is_private(there.st_gid, there.st_uid)
    if there.st_mode & stat.S_IWOTH or groups:
        raise InputError(
            "others may write to it: nothing is run from there", where=str(path),
            hint=f"remove it, or {_HINT}",
        )  # fmt: skip


def _check_above(path: Path) -> None:
    """Check that nobody else can put another folder in the place of ours; errors as `check_own`.

    In a folder such as ``/tmp``, with the sticky bit, only its owner moves a folder.
    """
    there = path.stat()
    shared = there.st_mode & stat.S_IWOTH and not there.st_mode & stat.S_ISVTX
    if there.st_uid not in (0, os.geteuid()) or shared:
        what = "others may write to it" if shared else f"it belongs to {_user(there.st_uid)}"
        raise InputError(f"{what}: nothing is run from there", where=str(path), hint=_HINT)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _is_private(group: int, owner: int) -> bool:
    """Whether a group is that of one user alone, as many systems have one for each."""
    try:
        found = grp.getgrgid(group)
        name = pwd.getpwuid(owner).pw_name
    except KeyError:
        return False
    return found.gr_name == name and not set(found.gr_mem) - {name}


def seal(binary: Path) -> None:
    """Let a binary end with its hash; its loader does not look there."""
    told = hashlib.sha256(binary.read_bytes()).hexdigest()
    binary.chmod(0o755)
    with binary.open("ab") as stream:
        stream.write(_SEAL + told.encode())


def is_sealed(binary: Path) -> bool:
    """Whether a binary is there, is a file, and is as it was sealed."""
    if binary.is_symlink() or not binary.is_file():
        return False
    content, _, told = binary.read_bytes().rpartition(_SEAL)
    return hashlib.sha256(content).hexdigest().encode() == told


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Make a folder to compile in, and remove it; those that were killed before go as well.

    Hosts that share the cache have processes of the same number, so the name is not made of that.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    for old in beside.parent.glob(f"{beside.name}.*"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > _DAY:
                shutil.rmtree(old, ignore_errors=True)
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f"{beside.name}.", dir=beside.parent))
    except OSError as error:
        raise InputError(
            f"cannot write to it: {error.strerror}", where=str(beside.parent), hint=_HINT
        ) from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
