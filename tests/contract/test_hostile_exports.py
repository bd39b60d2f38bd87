"""Hostile names in files for other programs: no formula, no second line, and they come back.

A run whose hosts, operations, applications and phases have such names is exported to every format.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from xml.etree import ElementTree as Xml

import msgspec
import numpy as np
import pyarrow.parquet as parquet
import pytest

from isochrone.base.csv_escape import cell_of, escaped, text_of, unescaped
from isochrone.base.text import printable
from isochrone.formats import exporter as exporters
from isochrone.models.data.tables import read_csv
from isochrone.runfile import importer as importers
from isochrone.runfile.run import Run
from made_up import sweeps
from made_up.emulations import Truth, emulation
from made_up.hostile_names import COMBINED, NAMES
from made_up.latency_maps import latency_map

HOSTS = tuple(name for name in dict.fromkeys((*NAMES, *COMBINED, "_", "a_b", "a_b_2")) if name)
FORMULA = re.compile(r"[\s'\"]*[=+\-@＝＋－＠\t\r]")
EXACT = ("csv", "matlab", "npz")
"""Formats of ours, in which any name comes back."""


@pytest.fixture(scope="module")
def run() -> Run:
    return latency_map(HOSTS)


def exported(run: Run, form: str, folder: Path) -> Path:
    path = folder / f"a.{form}"
    exporters.load(form).write(run, path)
    return path


def cells(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream, strict=True))


@pytest.mark.parametrize("form", EXACT)
def test_hostile_hosts_come_back_as_they_were(form: str, run: Run, tmp_path: Path) -> None:
    back = importers.load(form).read(exported(run, form, tmp_path))
    assert back.hosts == list(HOSTS)
    np.testing.assert_allclose(back.matrix("mean"), run.matrix("mean"), rtol=1e-12)


def test_hosts_that_differ_still_differ_in_a_log(run: Run, tmp_path: Path) -> None:
    """The format of mmpi holds words only: what is none becomes one, but no other's."""
    path = exported(run, "mmpi", tmp_path)
    assert all(line.isprintable() for line in path.read_text("utf-8").split("\n"))
    back = importers.load("mmpi").read(path)
    assert len(set(back.hosts)) == len(HOSTS)
    kept = [name for name in HOSTS if re.fullmatch(r"[\w.-]+", name)]
    assert [back.hosts[HOSTS.index(name)] for name in kept] == kept


def test_no_cell_is_a_formula_or_breaks_its_line(run: Run, tmp_path: Path) -> None:
    """Of a map: not even behind quotes, blanks or a tab, where spreadsheets still look."""
    path = exported(run, "csv", tmp_path)
    named = cells(path)[1:]
    assert len(path.read_text("utf-8").splitlines()) == 1 + len(named)
    for row in named:
        for cell in row[2:4]:
            assert cell.startswith("'") or not FORMULA.match(cell), cell
            assert cell.isprintable()


def test_operations_are_fitted_under_the_names_that_they_had(tmp_path: Path) -> None:
    """A sweep through CSV: `fit` reads what `export` wrote."""
    names = [name for name in HOSTS if name.strip() == name][:60]
    run = sweeps.collective(names, 4, sizes=(8, 64), repeats=2)
    path = exported(run, "csv", tmp_path)
    assert not [row[0] for row in cells(path) if FORMULA.match(row[0]) and row[0][0] != "'"]
    ended = {name.rstrip("\0") for name in names}  # numpy's texts have no NUL at the end
    assert set(read_csv(path).selectors["op"].tolist()) == ended


@pytest.mark.slow
def test_applications_and_phases_are_cells(tmp_path: Path) -> None:
    """Their names are kept for people: control characters went when the run was read."""
    for first in range(0, len(HOSTS), 12):
        few = [printable(name, 80) for name in HOSTS[first : first + 12]]
        truths = [Truth(name, ranks=2, iterations=2, phases=few[:2]) for name in few]
        path = exported(emulation(truths), "csv", tmp_path)
        texts = [cell for row in cells(path) for cell in row]
        assert all(text.isprintable() for text in texts)
        named = {text for text in texts if text_of(text) in few}
        assert {text_of(text) for text in named} == set(few)
        assert not [text for text in named if FORMULA.match(text) and text[0] != "'"]
        path.unlink()


def test_parquet_holds_the_names_themselves(run: Run, tmp_path: Path) -> None:
    table = parquet.read_table(exported(run, "parquet", tmp_path))
    assert set(table["host_i"].to_pylist()) | set(table["host_j"].to_pylist()) == set(HOSTS)


@pytest.mark.parametrize("form", ["simgrid", "goal-loggops", "osu"])
def test_what_simulators_and_scripts_read_holds_no_name_that_acts(
    form: str, tmp_path: Path
) -> None:
    """A library or a quantity stands in comments only: it does not end them."""
    for name in HOSTS[::3]:
        run = sweeps.point_to_point(sizes=(1, 64, 4096, 65536), repeats=2)
        run.header |= {"seconds_are": name, "mpi": {"library": name}}
        run.ranks = [msgspec.structs.replace(rank, host=f"{name}{rank.node}") for rank in run.ranks]
        path = exported(run, form, tmp_path)
        text = path.read_text("utf-8")
        assert all(line.isprintable() for line in text.split("\n"))
        if form == "simgrid":
            assert Xml.parse(path).getroot().tag == "platform"
        else:
            assert {line[0] for line in text.splitlines() if line} <= set("#0123456789Lo-")


def test_cells_and_numbers_are_undone() -> None:
    """Whatever a text is, and however often it is written: what comes back is the text."""
    for name in (*HOSTS, "", r"\x1b", r"\\x1b", "DOMAIN\\host", "'", "'=", "''=1", " '=1 "):
        assert unescaped(escaped(name)) == name
        assert text_of(cell_of(name)) == name
        assert text_of(cell_of(cell_of(cell_of(name)))) == cell_of(cell_of(name))
        assert escaped(name).isprintable()
    for name in ("n01", "node-1.example.org", "login_2"):
        assert escaped(name) == cell_of(name) == name
    assert unescaped("DOMAIN\\host") == "DOMAIN\\host"
