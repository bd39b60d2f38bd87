"""The probe: its description of itself, and how it is built with the user's mpicc.

The libraries that are loaded into programs are built in the same way, from the same sources. Where
there is no need to build one, `isochrone.measure.discovery` finds it.

Every process gets an argv list, never a shell string. What may take long, the compiler and the
ranks, is run as a job (`isochrone.measure.job`), of which nothing stays behind.
"""

import contextlib
import hashlib
import os
import re
import shlex
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import which
from typing import Literal

import msgspec

from isochrone.base.errors import ExhaustedError, InputError, MeasurementError, failing
from isochrone.base.text import printable
from isochrone.measure.cache import cache_folder, check_own, is_sealed, scratch_folder, seal
from isochrone.measure.prebuilt import ALONE
from isochrone.measure.sources import own_hash, sources
from isochrone.measure.subprocesses import answer, cached_answer

MPICC = ("mpicc", "mpicc.mpich", "mpicc.openmpi")
"""Compiler wrappers of MPIs, the last two as Debian calls them."""

BUILD_TIMEOUT = 300.0


Origin = Literal["named", "on the PATH", "came with the package", "compiled"]


class Option(msgspec.Struct, frozen=True, tag_field="record", tag="option"):
    """An option of an experiment, as the probe lists it.

    Attributes
    ----------
    name
        Without the dashes.
    value
        What it is given; empty: nothing.
    help
        A line.
    default
        Default; empty: described in ``help``.
    expert
        Whether only ``--help-all`` lists it.
    """

    name: str
    value: str
    help: str
    default: str = ""
    expert: bool = False

    @property
    def flag(self) -> str:
        """Its name as it is typed."""
        return f"--{self.name}"

    @property
    def words(self) -> str:
        """Its help, with the default."""
        return self.help + (f" (default: {self.default})" if self.default else "")

    @property
    def choices(self) -> list[str]:
        """The words it takes, if these are all it takes, or a list of them as ``help`` ends in."""
        if "|" in self.value:
            return self.value.split("|")
        listed = self.help.rpartition(": ")[2].split(", ") if self.value.endswith(",...") else []
        return listed if len(listed) > 1 and all(choice.isidentifier() for choice in listed) else []


class Experiment(msgspec.Struct, tag_field="record", tag="experiment"):
    """What the probe measures, as it lists it; ``kind`` is that of its results."""

    name: str
    kind: str
    summary: str
    options: list[Option] = []


@dataclass(frozen=True)
class Probe:
    """A probe that can be started.

    Attributes
    ----------
    path
        The program.
    mpicc
        The compiler wrapper of its MPI, whose launchers are beside it. Where the probe was not
        compiled here, it is where the wrapper would be.
    origin
        Where it comes from.
    """

    path: Path
    mpicc: Path
    origin: Origin = "compiled"

    @cached_property
    def version_text(self) -> str:
        """Its version line, and that of the MPI library; needs no MPI job.

        Raises
        ------
        MeasurementError
            If it does not run.
        """
        argv = [str(self.path), "--version"]
        text = cached_answer(argv)
        if text.startswith("isochrone-probe "):
            return text
        result = answer(argv)
        if result.returncode:
            raise self._broken(result)
        raise MeasurementError("the program is not an isochrone-probe", where=self.path)

    @cached_property
    def library(self) -> str:
        """Version text of the MPI library; empty if the probe only runs on other hosts."""
        try:
            return " ".join(self.version_text.split("\n", 1)[-1].split())
        except ExhaustedError:
            raise
        except MeasurementError:
            return ""

    @property
    def source(self) -> str:
        """The hash of the sources it was built from; empty if it is too old to know."""
        return self.version_text.split("\n", 1)[0].partition(" source ")[2].strip()

    @cached_property
    def experiments(self) -> dict[str, Experiment]:
        """Its experiments by name, each with its own options."""
        experiments = {}
        for line in cached_answer([str(self.path), "--list"]).splitlines():
            entry = msgspec.json.decode(line, type=Experiment | Option)
            if isinstance(entry, Experiment):
                experiments[entry.name] = last = entry
            else:
                last.options.append(entry)
        return experiments

    def options_of(self, experiment: str) -> list[Option]:
        """List the options of an experiment; none of one that the probe does not have."""
        entry = self.experiments.get(experiment)
        return entry.options if entry else []

    def check(
        self, experiment: str, options: Sequence[str], ranks: int, *, local: bool = False
    ) -> None:
        """Let the probe check its options, before any rank is started.

        ``local`` says that all ranks will run on this machine, whose memory is then known.

        Raises
        ------
        InputError
            With the probe's own one line.
        MeasurementError
            If it does not run.
        """
        check_options = ["--check", str(ranks), *(["--here"] if local else [])]
        result = answer([str(self.path), experiment, *options, *check_options])
        if result.returncode == InputError.exit_code:
            line = result.stderr.strip().removeprefix("isochrone-probe: ")
            raise InputError(line or f"the probe refuses the options of {experiment}")
        if result.returncode:
            raise self._broken(result)

    def _broken(self, result: subprocess.CompletedProcess[str]) -> MeasurementError:
        """Return the error of a probe that does not do what it is asked, in its last words."""
        lines = result.stderr.strip().splitlines()
        why = printable(lines[-1], 300) if lines else f"exit status {result.returncode}"
        return MeasurementError(f"the probe does not run: {why}", where=self.path)


class NoMpi(InputError):
    """There is no MPI, and none was named."""


def find_mpicc(wanted: str | None = None, *, hint: str = "") -> Path:
    """Find the compiler wrapper of the user's MPI.

    In this order: what was asked for, ``$MPICC``, ``mpicc`` on the PATH, and the one that an MPI
    wheel put beside this Python.

    Raises
    ------
    InputError
        If there is none.
    """
    named = wanted or os.environ.get("MPICC")
    if named:
        wrapper = which(named)
        if wrapper is None:
            raise InputError(
                f"there is no program '{named}'",
                where="" if hint else "--mpicc or $MPICC",
                hint=hint,
            )
        return Path(wrapper).absolute()
    searches = [(name, path) for path in (None, sysconfig.get_path("scripts")) for name in MPICC]
    wrapper = next(filter(None, (which(name, path=path) for name, path in searches)), None)
    if wrapper is None:
        raise NoMpi(
            "no MPI was found: neither mpiexec nor mpicc is in PATH",
            hint="load your MPI module, give --mpicc, or: pip install mpich",
        )
    return Path(wrapper).absolute()


def build(mpicc: Path, *, again: bool = False) -> Probe:
    """Compile the probe, unless this source was compiled by this mpicc before.

    Raises
    ------
    MeasurementError
        If it does not compile; with the compiler's last words.
    """
    mpicc = mpicc.absolute()
    return Probe(_product("isochrone-probe", "the probe", mpicc, again=again), mpicc)


def build_alone() -> Probe:
    """Compile the probe that needs no MPI, and has only the experiment synthetic.

    Raises
    ------
    NoMpi
        If there is no C compiler.
    MeasurementError
        If it does not compile.
    """
    compiler = which("cc") or which("gcc")
    if compiler is None:
        raise NoMpi("neither an MPI nor a C compiler was found", hint="pip install mpich")
    return Probe(_product(ALONE, "the probe", Path(compiler)), Path(compiler))


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
    return _product(f"libisochrone-{name}.so", "the library", mpicc.absolute())


def _product(name: str, called: str, mpicc: Path, *, again: bool = False) -> Path:
    """Return the path of what the Makefile of the probe makes; make it if it is not there."""
    folder = cache_folder() / f"probe-{_fingerprint(mpicc)}"
    product = folder / name
    with contextlib.suppress(FileNotFoundError):
        for path in (folder, product):
            check_own(path)
    if not again and is_sealed(product):
        return product
    if which("make") is None:
        raise InputError("the program 'make' is missing", hint="install make and a C compiler")
    with scratch_folder(folder) as scratch:
        _make(scratch / name, called, mpicc)
        with failing("the file cannot be written", product):
            seal(scratch / name)
            folder.mkdir(mode=0o755, exist_ok=True)
            (scratch / name).replace(product)  # atomically, also with concurrent builds
    return product


def _make(product: Path, called: str, mpicc: Path) -> None:
    """Compile in the folder of the product.

    Raises
    ------
    MeasurementError
        If it fails, hangs, or produces nothing.
    """
    from isochrone.measure.job import run  # most probes are there already

    wrapper = shlex.quote(str(mpicc)).replace("$", "$$")
    try:
        with _plain(product.parent) as folder:
            argv = ["make", "-C", str(sources()), f"MPICC={wrapper}", f"BUILD={folder}"]
            run([*argv, str(folder / product.name)], timeout=BUILD_TIMEOUT)
    except MeasurementError as error:
        raise MeasurementError(
            f"{mpicc} cannot compile {called}: {error.what}",
            hint=_why_not(error.details),
            details=error.details,
        ) from error
    if not product.is_file():
        raise MeasurementError(
            f"{mpicc} produced no {product.name}", hint="is it a compiler wrapper?"
        )


@contextlib.contextmanager
def _plain(folder: Path) -> Iterator[Path]:
    """Yield a name of a folder that make takes for one word: itself, or a link to it."""
    if re.fullmatch(r"[\w/.+,@-]+", str(folder), re.ASCII):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="isochrone-") as scratch:
        link = Path(scratch) / "build"
        link.symlink_to(folder)
        yield link


def _why_not(details: Sequence[str]) -> str:
    """Return what to try, from the output of the compiler."""
    if any("mpi.h" in line for line in details):
        return (
            "this mpicc does not find mpi.h: set I_MPI_ROOT for Intel MPI (its prefix, where bin "
            "and include are), or install the development package of your MPI"
        )
    return "does this mpicc compile a trivial program?"


def _fingerprint(mpicc: Path) -> str:
    """Hash what the program depends on: its sources, the wrapper, and what the wrapper does."""
    digest = hashlib.sha256(own_hash().encode())
    real = mpicc.resolve()
    digest.update(f"{mpicc}\0{real}\0{real.stat().st_mtime_ns}\0".encode(errors="surrogateescape"))
    digest.update(cached_answer([str(mpicc), "-show"]).encode())
    for name in ("CFLAGS", "LDFLAGS"):
        digest.update(os.fsencode(os.environ.get(name, "")) + b"\0")
    return digest.hexdigest()[:16]
