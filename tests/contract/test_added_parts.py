"""What is one file, or one row of a table, is just that: each is added to a copy of the package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beds.mpis import ROOT
from isochrone.base.operations import OPERATIONS
from isochrone.runfile.file import write
from made_up.sweeps import point_to_point

FILES = {
    "models/families/own.py": '''"""A law of one's own."""
from isochrone.models.formulas.family import Family, Form
FAMILY = Family(r"t = a\\\\,b", "me", "All.", (Form(("1", "b"), ("a", "c")),))
''',
    "formats/importers/own.py": '''"""The time of one size, alone in its file."""
import re
from isochrone.base.table import TableBuilder
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run
def read(path):
    header = {"kind": "sweep", "by": ["op"], "experiment": "own", "ranks": 2}
    samples = TableBuilder()
    samples.add({"op": "own", "bytes": 8, "seconds": float(path.read_text().split()[-1])})
    return Run(header, tables={"sample": samples.build()}, end={"complete": True})
IMPORTER = Importer("sweep", read, says="own times", signature=re.compile(rb"\\Aown time "))
''',
    "sweep/records/own.py": '''"""A result of one's own."""
from isochrone.runfile.records import Declared, Result, Whole
class Step(Declared):
    "A step."
    height: Whole
RESULT = Result({"step": Step})
''',
    "measure/launchers/own.py": '''"""A launcher of one's own."""
from isochrone.measure.launcher import Launcher
LAUNCHER = Launcher(command=lambda job: ["own-run", str(job.ranks), *job.program])
''',
    "sweep/figures/own.py": '''"""A figure of one's own."""
from isochrone.views.view import View
def draw(runs, options):
    from matplotlib.figure import Figure
    return Figure()
VIEW = View(draw, kinds=("sweep",))
''',
}

ROWS = {
    "latency_map/slow_part.py": (
        '    "pair": SlowKind(',
        '    "chassis": SlowKind("either", unit=True),\n',
    ),
    "sweep/kinds/sweep.py": (
        '    ("mean", "mean",',
        '    ("shortest", "min", lambda t: f"{t} s"),\n',
    ),
    "base/operation_table.py": ("bcast Bcast", "relay Relay bcast rooted in_one_buffer\n"),
}
"""Tables: a row that is there, and the one that is added before it."""

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, in which each of these was added, and a sweep."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "isochrone"
    shutil.copytree(ROOT / "src/isochrone", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in FILES.items():
        (package / name).write_text(text)
    for name, (row, added) in ROWS.items():
        table = package / name
        assert row in table.read_text()
        table.write_text(table.read_text().replace(row, added + row))
    write(point_to_point(), folder / "sweep.jsonl")
    (folder / "own.txt").write_text("own time 2e-6")
    return folder


def python(folder: Path, *args: str) -> str:
    answer = subprocess.run(
        [sys.executable, *args],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}:{ROOT}/tests", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_a_family_is_fitted(copy: Path) -> None:
    python(copy, "-m", "isochrone", "fit", "sweep.jsonl", "--family", "own", "-o", "own.json")
    assert "own" in (copy / "own.json").read_text()


def test_an_importer_reads(copy: Path) -> None:
    python(copy, "-m", "isochrone", "import", "own.txt", "--from", "own", "-o", "own.jsonl")
    for file in ("own.jsonl", "own.txt"):
        assert "2e-06" in python(copy, "-m", "isochrone", "show", file, "--json")


@pytest.mark.parametrize(
    "command",
    [
        "compare own.txt own.txt --json",
        "export own.txt --to csv -o own.csv",
        "plot own.txt -o own-times.svg",
        "report own.txt -o own.html",
    ],
)
def test_every_command_reads_what_an_importer_reads(copy: Path, command: str) -> None:
    python(copy, "-m", "isochrone", *command.split())


def test_a_record_is_checked_and_published(copy: Path) -> None:
    for height, problem in ((2, "no problem"), (-2, "'height' is out of range")):
        (copy / "step.jsonl").write_text(
            '{"record":"run","format":1,"experiment":"steps","kind":"own","ranks":1}\n'
            f'{{"record":"step","height":{height}}}\n'
        )
        code = """
from isochrone.base.errors import InputError
from isochrone.runfile.file import read
try:
    read("step.jsonl")
except InputError as error:
    print(error.what)
else:
    print("no problem")
"""
        assert problem in python(copy, "-c", code)
    schema = json.loads(python(copy, "-m", "isochrone", "show", "--schema", "run-file"))
    assert "height" in str(schema)


def test_a_launcher_is_offered(copy: Path) -> None:
    assert "own" in python(
        copy, "-c", "from isochrone.measure.launcher import names; print(names())"
    )


def test_a_figure_is_drawn(copy: Path) -> None:
    python(copy, "-m", "isochrone", "plot", "sweep.jsonl", "--view", "own", "-o", "own.svg")
    assert (copy / "own.svg").read_text().startswith("<?xml")


def test_a_kind_of_slow_component_names_its_hosts(copy: Path) -> None:
    """It proves its hosts bad as a node does, and has a place in every picture and page."""
    code = """
from isochrone.changes.check import Finding
from isochrone.latency_map.slow_part import Slow
part = Slow("chassis", "n1", 2.0, (1,), ("n1",), 0, 2e-6, 1e-6, 3, 1e-6, 1e-6, 1e-6)
print(part.name, part.of.concerns)
found = Finding("slow", "chassis", "n1", ("n1",), (1,), None, 8, 2.0, None, "")
print(found.bad_hosts, found.suspects)
"""
    assert python(copy, "-c", code).splitlines() == ["chassis n1 either", "('n1',) ()"]


def test_a_column_is_in_the_table(copy: Path) -> None:
    shown = python(copy, "-m", "isochrone", "show", "sweep.jsonl")
    assert "shortest" in shown
    shortest = min(point["min"] for point in _points(copy))
    assert f"{shortest} s" in shown


def test_an_operation_is_a_phase_of_an_application_with_a_root(copy: Path) -> None:
    """What is known of operations follows from the row: descriptions know it, too."""
    (copy / "app.yaml").write_text(
        "isochrone: app/1\napps:\n  - name: a\n    ranks: 4\n    iterations: 2\n"
        "    phases:\n      - relay: {bytes: 8, root: 1}\n"
    )
    read = """
from pathlib import Path
from isochrone.applications.description.reading import read
print(read(Path("app.yaml")))
"""
    assert "relay" in python(copy, "-c", read)


@pytest.mark.slow
def test_an_operation_is_exported_imported_fitted_and_predicted(copy: Path) -> None:
    """No list of an exporter, importer, family or prediction has to name it as well."""
    (copy / "imb.txt").write_text(IMB)
    code = """
from pathlib import Path
from isochrone.api import read
from isochrone.applications.predict.operation_times import OperationTimes
from isochrone.base.operations import EQUAL_WORK, FROM_ROOT, like
from isochrone.base.synonyms import synonyms
from isochrone.models import fit
from isochrone.runfile.file import write
from made_up.sweeps import collective
run = collective(("relay",), 4)
write(run, Path("relay.jsonl"))
model = fit(collective(("bcast",), 4))
print(like("relay"), int("relay" in FROM_ROOT), int("relay" in EQUAL_WORK))
print(synonyms(["measure"])["osu_relay"])
print(OperationTimes([model]).times("relay", 64.0, "", None, 4)
      == OperationTimes([model]).times("bcast", 64.0, "", None, 4))
"""
    answer = python(copy, "-c", code).splitlines()
    assert answer == ["bcast 1 0", "measure collective --op relay", "True"]
    run = ("-m", "isochrone")
    python(copy, *run, "export", "relay.jsonl", "--to", "osu", "-o", "osu.txt")
    for name, options in (("osu", ()), ("imb", ())):
        python(copy, *run, "import", f"{name}.txt", "--from", name, *options, "-o", f"{name}.jsonl")
        shown = json.loads(python(copy, *run, "show", f"{name}.jsonl", "--json"))
        assert [curve["op"] for curve in shown["curves"]] == ["relay"]


def test_an_operation_has_its_row_in_every_place_that_is_not_derived() -> None:
    """A row in C without the table in Python, a wrapper of the recorder, or a line in the docs."""
    table = ROOT / "probe/messages/operation_table.py"
    derived = subprocess.run([sys.executable, table], capture_output=True, text=True, check=True)
    assert derived.stdout == (ROOT / "src/isochrone/base/operation_table.py").read_text()
    wrappers = (ROOT / "probe/recorder/counted_calls.h").read_text()
    page = (ROOT / "docs/collective-operations.md").read_text()
    for name, operation in OPERATIONS.items():
        assert re.search(rf"\({operation.title},\s+{name},", wrappers), f"the recorder lacks {name}"
        assert f"| `{name}` |" in page, f"the docs lack {name}"


IMB = """# Intel(R) MPI Benchmarks 2021.3, MPI-1 part
# Benchmarking Relay
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.00         2.00         1.50
           64         1000         1.00         3.00         1.50
"""


def _points(copy: Path) -> list[dict[str, float]]:
    document = json.loads(python(copy, "-m", "isochrone", "show", "sweep.jsonl", "--json"))
    return [point for curve in document["curves"] for point in curve["points"]]
