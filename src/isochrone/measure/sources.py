"""The sources of the probe, and the hash that identifies a binary built from them.

Every binary holds the hash of what it was built from (``probe/base/source.h``); the Makefile of the
probe computes it as `source_hash` does.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

from isochrone.base.errors import InputError

_MARK = re.compile(rb"isochrone-source ([0-9a-z]+)\0")
_DIGEST_LENGTH = 16


def sources() -> Path:
    """Return the folder of the probe's sources: in a checkout, or carried by the wheel."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_probe", package.parents[1] / "probe"):
        if (folder / "experiment.h").is_file():
            return folder
    raise InputError("the sources of the probe are missing", hint="reinstall isochrone")


def experiments() -> list[str]:
    """List the experiments as the user types them; one file, or one folder, is one experiment."""
    folder = sources() / "experiments"
    files = [*folder.glob("*.c"), *(file.parent for file in folder.glob("*/*.c"))]
    return sorted({file.stem.replace("_", "-") for file in files})


def source_hash(folder: Path) -> str:
    """Hash all C files and the Makefile: that of the lines that ``sha256sum`` prints of them.

    What is in its subfolder ``build`` was made from them.
    """
    files = [file for file in [*folder.rglob("*.[ch]"), folder / "Makefile"] if file.is_file()]
    names = {f"./{file.relative_to(folder).as_posix()}": file for file in files}
    lines = [
        f"{hashlib.sha256(names[name].read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(names, key=str.encode)
        if not name.startswith("./build/")
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:_DIGEST_LENGTH]


@cache
def own_hash() -> str:
    """Hash the sources that this package holds: they do not change while it runs."""
    return source_hash(sources())


def embedded(binary: Path) -> str:
    """Return the hash that a program or library holds; empty if it has none."""
    try:
        match = _MARK.search(binary.read_bytes())
    except OSError:
        return ""
    return match[1].decode() if match else ""
