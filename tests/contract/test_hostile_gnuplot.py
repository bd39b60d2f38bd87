"""Exported to gnuplot under hostile names, and drawn by gnuplot itself: nothing of them is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from beds.mpis import PATIENCE, missing
from isochrone.base.errors import InputError
from isochrone.formats.exporters import gnuplot
from isochrone.runfile.run import Run
from made_up import sweeps
from made_up.hostile_names import COMBINED, FILE_NAMES, NAMES, TRACE

QUOTE = "'"
QUOTED = tuple(f"{n * QUOTE}; system({QUOTE}touch {TRACE}{QUOTE}) #" for n in range(1, 5))
ALL = (*NAMES, *COMBINED, *QUOTED)
FEW = (8, 64, 512)


def hostile(first: int, number: int) -> Run:
    """Return operations of these names, in a run in which every other text is hostile, too."""
    names = [ALL[(first + k) % len(ALL)] for k in range(number)]
    run = sweeps.collective(names, 4, sizes=FEW, repeats=2)
    run.header |= {
        "seconds_are": names[0],
        "experiment": names[-1],
        "kind": "sweep",
        "by": ["op", "p"],
        "mpi": {"library": names[0], "standard": names[-1]},
    }
    return run


def drawn(run: Run, folder: Path, name: str) -> list[Path]:
    """Export and run gnuplot in the folder of the files, as a user does; return its pictures."""
    program = shutil.which("gnuplot")
    if program is None:
        missing("gnuplot", "no gnuplot here")
    gnuplot.write(run, folder / name)
    script = (folder / name).with_suffix(".gp").name
    done = subprocess.run(
        [program, f"./{script}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
        env={**os.environ, "HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    made = {one.name for one in folder.iterdir()}
    assert TRACE not in made
    made -= {name, script}
    assert all(one.endswith(".svg") for one in made), made
    return sorted(folder / one for one in made)


@pytest.mark.few(2)
@pytest.mark.parametrize("first", range(0, len(ALL), 24))
def test_what_the_seconds_are_is_no_command(first: int, tmp_path: Path) -> None:
    """The label of an axis: gnuplot 5.4 ends a text at four quotes."""
    for number, name in enumerate(ALL[first : first + 24]):
        run = sweeps.point_to_point(sizes=FEW, repeats=2)
        run.header["seconds_are"] = name
        folder = tmp_path / str(number)
        folder.mkdir()
        assert len(drawn(run, folder, "a.dat")) == 2


@pytest.mark.parametrize("first", range(0, len(ALL), 16))
def test_names_in_a_run_are_no_commands(first: int, tmp_path: Path) -> None:
    pictures = drawn(hostile(first, 16), tmp_path, "a.dat")
    assert [path.name for path in pictures] == ["a-bandwidth.svg", "a-time.svg"]
    for path in pictures:
        Xml.parse(path)


@pytest.mark.slow
def test_the_name_of_the_file_is_no_command(tmp_path: Path) -> None:
    """What gnuplot cannot read is refused before anything is written.

    A file called ``<touch x`` or ``|touch x`` is a command for gnuplot.
    """
    run = sweeps.point_to_point(sizes=FEW, repeats=2)
    for number, name in enumerate((*FILE_NAMES, f"<touch {TRACE};", f"|touch {TRACE};")):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            pictures = drawn(run, folder, name)
        except InputError:
            assert list(folder.iterdir()) == []
            assert not name.isprintable() or "\\" in name or "''" in name or name.endswith(".gp")
        else:
            assert len(pictures) == 2
