"""The measuring program: built with the user's mpicc, and what it says of itself.

The libraries that are loaded into programs are built in the same way, from the same sources.

Every process gets an argv list, never a shell string. What may take long, the compiler and the
ranks, is run as a job (`isochrone.measure.job`), of which nothing stays behind.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from isochrone.base.errors import InputError, MeasurementError
from isochrone.measure.job import Progress, run

__all__ = ["Probe", "Progress", "build", "build_library", "experiments", "find_mpicc", "run"]

BUILD_TIMEOUT: Final = 300.0
ANSWER_TIMEOUT: Final = 60.0


@dataclass(frozen=True)
class Probe:
    """A probe that was built.

    Attributes
    ----------
    path
        The program.
    mpicc
        What it was built with.
    """

    path: Path
    mpicc: Path

    @cached_property
    def library(self) -> str:
        """What the MPI library says of itself; needs no MPI job."""
        words = _answer([str(self.path), "--version"]).stdout.split("\n", 1)[-1].split()
        return " ".join(words)

    def sweeps(self) -> dict[str, str]:
        """List the experiments that are sweeps over message sizes, with a line on each."""
        lines = _answer([str(self.path), "--list"]).stdout.splitlines()
        listed = [msgspec.json.decode(line, type=dict[str, str]) for line in lines]
        return {one["name"]: one["summary"] for one in listed if one["kind"] == "sweep"}

    def check(
        self, experiment: str, options: Sequence[str], ranks: int, *, here: bool = False
    ) -> None:
        """Let the probe check its options, before any rank is started.

        ``here`` says that all ranks will run on this machine, whose memory is then known.

        Raises
        ------
        InputError
            With the probe's own one line.
        """
        asked = ["--check", str(ranks), *(["--here"] if here else [])]
        answer = _answer([str(self.path), experiment, *options, *asked])
        if answer.returncode:
            line = answer.stderr.strip().removeprefix("isochrone-probe: ")
            raise InputError(line or f"the probe refuses the options of {experiment}")

    def options_help(self, experiment: str) -> str:
        """Return the options of an experiment as the probe lists them."""
        text = _answer([str(self.path), experiment, "--help"]).stdout
        return text.partition("\noptions:\n")[2].partition("\n\n")[0]


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


def find_mpicc(wanted: str | None = None, *, hint: str = "") -> Path:
    """Find the compiler wrapper of the user's MPI.

    In this order: what was asked for, ``$MPICC``, ``mpicc`` on the PATH, and the one that an MPI
    wheel put beside this Python.

    Raises
    ------
    InputError
        If there is none.
    """
    asked = wanted or os.environ.get("MPICC")
    if asked:
        found = shutil.which(asked)
        if found is None:
            raise InputError(
                f"there is no program '{asked}'",
                where="" if hint else "--mpicc or $MPICC",
                hint=hint,
            )
        return Path(found).absolute()
    beside = sysconfig.get_path("scripts")
    found = shutil.which("mpicc") or shutil.which("mpicc", path=beside)
    if found is None:
        raise InputError(
            "no MPI was found: there is no mpicc on the PATH",
            hint="load your MPI module, give --mpicc, or: pip install 'isochrone[mpich]'",
        )
    return Path(found).absolute()


def build(mpicc: Path, *, again: bool = False) -> Probe:
    """Compile the probe, unless this source was compiled by this mpicc before.

    Raises
    ------
    MeasurementError
        If it does not compile; with the compiler's last words.
    """
    return Probe(_product("isochrone-probe", "the probe", mpicc, again=again), mpicc)


def build_library(mpicc: Path, name: str = "grid") -> Path:
    """Compile a library that is loaded into programs, unless that was done before.

    Parameters
    ----------
    mpicc
        Of the MPI of the programs.
    name
        ``grid`` applies a tuning table, ``record`` records calls, ``io`` collective I/O.

    Raises
    ------
    MeasurementError
        If it does not compile; with the compiler's last words.
    """
    return _product(f"libisochrone-{name}.so", "the library", mpicc)


def _product(name: str, called: str, mpicc: Path, *, again: bool = False) -> Path:
    """Return the path of what the Makefile of the probe makes; make it if it is not there."""
    source = sources()
    folder = _cache() / f"probe-{_fingerprint(source, mpicc)}"
    product = folder / name
    if again or not product.is_file():
        if shutil.which("make") is None:
            raise InputError("there is no 'make'", hint="install make and a C compiler")
        scratch = folder.with_name(f"{folder.name}.{os.getpid()}")
        argv = ["make", "-C", str(source), f"MPICC={mpicc}", f"BUILD={scratch}"]
        try:
            run([*argv, str(scratch / name)], timeout=BUILD_TIMEOUT)
            if not (scratch / name).is_file():
                raise MeasurementError(
                    f"{mpicc} produced no {name}", hint="is it a compiler wrapper?"
                )
            folder.mkdir(exist_ok=True)
            (scratch / name).replace(product)
        except MeasurementError as error:
            if not error.details:
                raise
            raise MeasurementError(
                f"{called} cannot be compiled with {mpicc}",
                hint="does this mpicc compile a trivial program?",
                details=error.details,
            ) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return product


def _answer(
    argv: Sequence[str], timeout: float = ANSWER_TIMEOUT
) -> subprocess.CompletedProcess[str]:
    """Run a short command to its end and return what it printed."""
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MeasurementError(f"cannot run '{argv[0]}': {error}") from error


def _cache() -> Path:
    """Return the folder where built probes are kept, and make it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "isochrone"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot create it: {error.strerror}", where=str(folder), hint="set XDG_CACHE_HOME"
        ) from error
    return folder


def _fingerprint(source: Path, mpicc: Path) -> str:
    """Hash what the program depends on: its source, the wrapper, and what the wrapper does."""
    digest = hashlib.sha256()
    for file in sorted([*source.rglob("*.[ch]"), source / "Makefile"]):
        if "build" not in file.relative_to(source).parts:
            digest.update(str(file.relative_to(source)).encode() + b"\0" + file.read_bytes())
    real = mpicc.resolve()
    digest.update(f"{mpicc}\0{real}\0{real.stat().st_mtime_ns}\0".encode())
    digest.update(_answer([str(mpicc), "-show"]).stdout.encode())
    for name in ("CFLAGS", "LDFLAGS"):
        digest.update(os.environ.get(name, "").encode() + b"\0")
    return digest.hexdigest()[:16]
