"""All figures and tables of docs/evaluation.md, where the truth is known: `make evaluation`.

    PYTHONPATH=src:tests:bench python bench/evaluation.py [--full] [--only pairs,models]
        [--peer OSU=./osu_latency] [--output docs]

Writes evaluation.md, its pictures, and a CSV of each table. The quick sizes take less than ten
minutes of processor time in all; `--full` draws more cases. Programs of others are given with
`--peer NAME=PATH`, compiled with ``smpicc`` (`bench/peers/build.sh`). Nothing is downloaded. Rows
of programs that are not given stay as they were measured before.
With `--only` other sections stay as they were measured before.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parent)]

from evaluated.peers import TITLES  # noqa: E402
from evaluated.section import Bed, Section, Table  # noqa: E402

from isochrone.views import save  # noqa: E402

SECTIONS = (
    "pairs", "verdicts", "collectives", "models", "papers", "collective_io", "applications",
)  # fmt: skip

HEAD = """# Evaluation

Everything here was measured where the truth is known: on simulated machines (SimGrid), and with synthetic machines, laws and programs. `make
evaluation` writes this page, its figures and a CSV of each table (`docs/evaluated`) in {seconds:.0f} s of processor time; `make evaluation FULL=1` draws more cases.
Measurements on real and virtual clusters are on the pages of the features.

Programs of others are built by `bench/peers/build.sh` from sources that you have, and given as `PEERS="OSU=FOLDER LinkTest=PATH …"`.
Rows of programs that are not given stay as they were measured before.

Real programs: `bench/programs/build.sh` builds HPCG, LULESH, miniFE and AMG from sources that you have.
All four were built with GCC and MPICH, and recorded on 2 to 8 ranks. They are not part of these numbers, because their true times are unknown.
Recording takes up to 0.5 % of the time of HPCG, LULESH and miniFE. AMG polls for messages, 1.2 million calls a second: there it is up to 23 %.
"""


@dataclass
class Text:
    """A section as it is on the page, and what it took."""

    title: str
    text: str
    processor: float
    elapsed: float


def main() -> None:
    """Evaluate the sections that are asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="more cases, hours in all")
    parser.add_argument("--only", default="", help=f"of {','.join(SECTIONS)} (default: all)")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "docs")
    args = parser.parse_args()
    peers = {}
    for one in args.peer:
        name, _, path = one.partition("=")
        if name.lower() not in TITLES or not Path(path).exists():
            parser.error(f"--peer {one}: NAME is one of {', '.join(TITLES)}; PATH must exist")
        peers[name.lower()] = Path(path).absolute()  # a Python of an environment is a link
    folder = args.output / "evaluated"
    folder.mkdir(parents=True, exist_ok=True)
    for name in args.only.split(",") if args.only else SECTIONS:
        with tempfile.TemporaryDirectory() as scratch:
            kept = evaluated(name, Bed(Path(scratch), not args.full, peers, folder), folder)
        (folder / f"{name}.json").write_text(json.dumps(asdict(kept), ensure_ascii=False, indent=1))
        print(f"{name}: {kept.processor:.0f} s of processor time", flush=True)
    write_page(args.output)


def evaluated(name: str, bed: Bed, folder: Path) -> Text:
    """Evaluate one section; write its tables and its picture."""
    module = importlib.import_module(f"evaluated.{name}")
    begin, before = time.perf_counter(), processor()
    found: Section = module.evaluate(bed)
    took = processor() - before
    lines = [found.measured, "", *found.found, ""]
    for table in found.tables:
        write_csv(folder / f"{table.name}.csv", table)
        lines += [*markdown(table), ""]
    if found.figure:
        save(found.figure[0], folder / f"{name}.png")
        lines += [f"![{found.figure[1]}](evaluated/{name}.png)", ""]
    lines += ["What fails:", "", *(f"- {one}" for one in found.fails)]
    return Text(module.TITLE, "\n".join(lines), took, time.perf_counter() - begin)


def processor() -> float:
    """Return seconds of processor time, also of programs that ended."""
    return sum(os.times()[:4])


def write_csv(path: Path, table: Table) -> None:
    """Write all rows of a table."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.rows)


def markdown(table: Table) -> list[str]:
    """Return the first rows of a table."""
    rows = [table.columns, ["---"] * len(table.columns), *table.rows[: table.shown]]
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    more = len(table.rows) - table.shown
    return lines + (
        [f"\n{more} more rows are in `evaluated/{table.name}.csv`."] if more > 0 else []
    )


def write_page(output: Path) -> None:
    """Write the page from all sections that were evaluated."""
    texts = {
        name: Text(**json.loads(path.read_text()))
        for name in SECTIONS if (path := output / "evaluated" / f"{name}.json").exists()
    }  # fmt: skip
    total = sum(text.processor for text in texts.values())
    parts = [HEAD.format(seconds=total)]
    for letter, text in zip("abcdefg", texts.values(), strict=False):
        parts.append(f"## ({letter}) {text.title}\n\n{text.text}\n\n"
                     f"Duration: {text.processor:.0f} s of processor time.\n")  # fmt: skip
    (output / "evaluation.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
