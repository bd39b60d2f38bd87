"""The cache folder of programs and libraries built for this machine's MPI.

Its files are run, by administrators as root, so only the user may be able to write to it. Each
compiled binary ends with a seal, its own hash: a truncated or changed binary is not run.
"""

import grp
import hashlib
import os
import pwd
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

from isochrone.base.errors import InputError, failing

_SEAL = b"\nisochrone-sealed "
_HINT = "set XDG_CACHE_HOME to a folder of your own"
_DAY = 86400.0


def cache_folder() -> Path:
    """Return the folder, and make it.

    Raises
    ------
    InputError
        If it cannot be created, belongs to another user, or others may write to it.
    """
    try:
        base = os.environ.get("XDG_CACHE_HOME") or _home() / ".cache"
    except (RuntimeError, KeyError) as error:  # neither HOME nor an entry for the user
        raise InputError("there is no home folder for compiled programs", hint=_HINT) from error
    folder = Path(base).absolute() / "isochrone"
    with failing("the folder cannot be created", folder, _HINT):
        folder.parent.mkdir(parents=True, exist_ok=True)
        _check_above(folder.parent)
        folder.mkdir(mode=0o755, exist_ok=True)
    check_own(folder)
    return folder


def _home() -> Path:
    """Return the home folder; where HOME is empty, that of the user's entry, and not the root."""
    home = os.environ.get("HOME")
    return Path.home() if home != "" else Path(pwd.getpwuid(os.getuid()).pw_dir)


def check_own(path: Path) -> None:
    """Check that only this user and root can have written to a path.

    Raises
    ------
    InputError
        If it, or the link that leads to it, belongs to another user, or others may write to it.
    """
    status = path.stat()
    for owner in {path.lstat().st_uid, status.st_uid} - {0, os.geteuid()}:
        raise InputError(
            f"programs in this folder are not executed: it belongs to user {_user(owner)}",
            where=path,
            hint=_HINT,
        )
    groups = status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid, status.st_uid)
    if status.st_mode & stat.S_IWOTH or groups:
        raise InputError(
            "programs in this folder are not executed: other users can write to it",
            where=path,
            hint=f"remove it, or {_HINT}",
        )


def _check_above(path: Path) -> None:
    """Check that no other user can replace the folder; errors as `check_own`.

    In a folder with the sticky bit, such as ``/tmp``, only the owner can move a folder.
    """
    status = path.stat()
    shared = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
    if status.st_uid not in (0, os.geteuid()) or shared:
        reason = (
            "other users can write to it"
            if shared
            else f"it belongs to user {_user(status.st_uid)}"
        )
        raise InputError(
            f"programs in this folder are not executed: {reason}", where=path, hint=_HINT
        )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _is_private(group: int, owner: int) -> bool:
    """Whether a group belongs to one user only, as on many systems."""
    try:
        entry = grp.getgrgid(group)
        name = pwd.getpwuid(owner).pw_name
    except KeyError:
        return False
    return entry.gr_name == name and not set(entry.gr_mem) - {name}


def seal(binary: Path) -> None:
    """Append its hash to a binary, which its loader ignores."""
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    binary.chmod(0o755)
    with binary.open("ab") as stream:
        stream.write(_SEAL + digest.encode())


def is_sealed(binary: Path) -> bool:
    """Whether a binary exists, is a file, and is unchanged since it was sealed."""
    if binary.is_symlink() or not binary.is_file():
        return False
    content, _, digest = binary.read_bytes().rpartition(_SEAL)
    return hashlib.sha256(content).hexdigest().encode() == digest


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Create a temporary folder next to a file to compile in; old ones are removed, too.

    Raises
    ------
    InputError
        If it cannot be created.
    """
    for old in target.parent.glob(f"{target.name}.*"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > _DAY:
                rmtree(old, ignore_errors=True)
    with failing("the folder is not writable", target.parent, _HINT):
        scratch = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    try:
        yield scratch
    finally:
        rmtree(scratch, ignore_errors=True)
