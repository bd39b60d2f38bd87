"""All figures and tables of docs/evaluation.md, where the truth is known: `make evaluation`.

    PYTHONPATH=src:tests:bench python bench/evaluation.py [--full] [--only pairs,models]
        [--peer OSU=./osu_latency] [--output docs] [--pages]

Writes the pages, their pictures, and a CSV of each table. The quick sizes take less than 25
minutes of processor time in all; `--full` draws more cases. Programs of others are given with
`--peer NAME=PATH`, compiled with ``smpicc`` (`bench/peers/build.sh`). Nothing is downloaded. Rows
of programs that are not given stay as they were measured before.
With `--only` other sections stay as they were measured before. `--pages` measures nothing, and
writes the pages again from the stored numbers.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parent)]

from evaluated.peers import TITLES  # noqa: E402
from evaluated.section import Bed, Page, Rows, Section, Table, enumerated  # noqa: E402
from scaling import CODES  # noqa: E402

from isochrone.views import save  # noqa: E402

SECTIONS = (
    "pairs",
    "verdicts",
    "collectives",
    "models",
    "papers",
    "collective_io",
    "applications",
)

HEAD = """# Evaluation

How often is Isochrone right, and what fails? The table answers this for seven areas. The true values are known:
machines, formulas and programs are simulated (with SimGrid) or synthetic. Only (e) uses published values, and (f) includes a
measured program.
"""
COLUMNS = ("section", "question", "result", "main failure")
TAIL = """## Latency maps of real and generated machines

How often are levels and slow components of a latency map right? [How a map is
analysed](map-analysis.md) explains the two models that they test.

**Real processors.** Users of KCORES core-to-core-latency-plus and nviennot core-to-core-latency published 50 maps of processors with 4 to
256 hardware threads. Their groups (SMT siblings, clusters that share a cache, dies, sockets) are known. A level is *visible* if its median
is 10 % below that of the next level, with at most 20 % exceptions. No defect is known, so a slow component is a false claim.

The rules were chosen on these maps. Then 55 others were read for the first time.
Defects were put into two copies of each of the 50 maps: a rank that takes 1.5 times as long, and a pair that takes twice as long. Of 93 that
are more than three standard deviations above their peers, 89 (96 %) were named. Of 420 defects in four copies of all 105 maps, it was 386.

**Generated machines.** `bench/map_rates.py` makes random synthetic machines with 4 to 64 nodes, without noise and with 5 % noise. On some, one
thing is slow by 25 to 500 %: a node, several nodes, a pair of nodes, a switch, or an uplink. On others, one to a third of the nodes are
slow by 1.25 to 10 times in latency, bandwidth or both. Generated processors have 4 to 128 cores. *Exact* means that exactly the slow components were
named, and nothing else:

| maps | number | exact | a wrong component named | all levels right | slow components named |
| --- | --- | --- | --- | --- | --- |
| real processors, nothing slow | 50 | 98 % | 0 % | 98 % | – |
| real processors, read for the first time | 55 | at least 89 % | 7 % | 96 % | – |
| real processors with a defect | 100 | 91 % | 0 % | – | 91 % |
| machines, one thing slow | 400 | 98.2 % | 0.8 % | 98.8 % | 98.8 % |
| machines of 4 to 12 nodes | 120 | 96.7 % | 0.8 % | 95.8 % | 96.4 % |
| machines with one to a third of their nodes slow | 240 | 99.2 % | 0.4 % | 98.8 % | 99.9 % |
| generated processors | 200 | 96.5 % | 0 % | 98.5 % | 95.5 % |

A wrong component was named in addition to the right ones, or in its place. Most missed components are on small machines with noise,
switches that have half of all nodes, and pairs of cores on hybrid processors.

`bench/health_rates.py` asks `check` about 1,000 machines of 8 to 64 nodes. Of 500 with one to a third of their nodes slow, none was `good`,
and 99.9 % of the slow nodes were suspects. Of 500 healthy machines, 498 were `good`, and 2 not known, with suspects. A
node that is slower by just what `check` says would have been found, was found on 87 % of 100 machines.

## How far can you trust these numbers?

- A simulated or synthetic machine is not a real one. The project chose machines and noise itself. So latency maps were also evaluated on
  [real processors](#latency-maps-of-real-and-generated-machines).
- The number of cases is small. `make evaluation FULL=1` tests more.
- An error of 0 % is below 0.005 %.

## How do I repeat the evaluation?

`make evaluation` writes this page, its figures, and a CSV file of each table (`docs/evaluated`). It takes {seconds:.0f} s of
processor time. The other programs run only if you list them in `PEERS="OSU=FOLDER LinkTest=PATH …"`. Rows of programs that are
not listed keep the earlier results. `bench/peers/build.sh` builds these programs from downloaded sources.
"""


@dataclass
class Stored:
    """What a section measured in addition to its tables, and what it took."""

    facts: dict[str, str]
    notes: list[str]
    processor: float
    elapsed: float


def main() -> None:
    """Evaluate the sections that are asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="more cases, hours in all")
    parser.add_argument("--only", default="", help=f"of {','.join(SECTIONS)} (default: all)")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--pages", action="store_true", help="write only the pages again")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "docs")
    args = parser.parse_args()
    peers = {}
    for one in args.peer:
        name, _, path = one.partition("=")
        if name.lower() not in (*TITLES, *CODES) or not Path(path).exists():
            parser.error(
                f"--peer {one}: NAME is one of {', '.join((*TITLES, *CODES))}; PATH must exist"
            )
        peers[name.lower()] = Path(path).absolute()  # a Python of an environment is a link
    folder = args.output / "evaluated"
    folder.mkdir(parents=True, exist_ok=True)
    measured = () if args.pages else args.only.split(",") if args.only else SECTIONS
    for name in measured:
        with tempfile.TemporaryDirectory() as scratch:
            kept = evaluated(name, Bed(Path(scratch), not args.full, peers, folder), folder)
        (folder / f"{name}.json").write_text(json.dumps(asdict(kept), ensure_ascii=False, indent=1))
        print(f"{name}: {kept.processor:.0f} s of processor time", flush=True)
    (args.output / "evaluation.md").write_text(page(args.output))


def evaluated(name: str, bed: Bed, folder: Path) -> Stored:
    """Evaluate one section; write its tables and its picture."""
    module = importlib.import_module(f"evaluated.{name}")
    begin, before = time.perf_counter(), processor()
    found: Section = module.evaluate(bed)
    took = processor() - before
    for table in found.tables:
        write_csv(folder / f"{table.name}.csv", table)
    if found.figure:
        save(found.figure, folder / f"{name}.png")
    return Stored(found.facts, found.notes, took, time.perf_counter() - begin)


def processor() -> float:
    """Return seconds of processor time, also of programs that ended."""
    return sum(os.times()[:4])


def write_csv(path: Path, table: Table) -> None:
    """Write all rows of a table."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.rows)


def page(output: Path) -> str:
    """Return the text of the page, from all sections that were evaluated."""
    overview, parts, total = [], [], 0.0
    for letter, section in zip("abcdefg", SECTIONS, strict=True):
        if not (output / f"evaluated/{section}.json").exists():
            continue
        stored = Stored(**json.loads((output / f"evaluated/{section}.json").read_text()))
        total += stored.processor
        heading = f"({letter}) {importlib.import_module(f'evaluated.{section}').TITLE}"
        found, text = described(output / "evaluated", section, stored)
        link = f"[({letter})](#{anchor(heading)})"
        overview.append((link, found.question, found.answer, found.failure))
        parts.append(f"## {heading}\n\n{text}\n\n")
    table = "\n".join(markdown(COLUMNS, overview))
    return f"{HEAD}\n{table}\n\n{''.join(parts)}{TAIL.format(seconds=total)}"


def described(folder: Path, section: str, stored: Stored) -> tuple[Page, str]:
    """Return what a section says, and its text: a table, what it means, and what fails."""
    module = importlib.import_module(f"evaluated.{section}")
    tables = {
        name: read_csv(path) for name in module.TABLES if (path := folder / f"{name}.csv").exists()
    }
    found: Page = module.page(stored.facts, tables)
    parts = [found.measured, "\n".join(markdown(found.columns, found.rows)), found.meaning]
    if (folder / f"{section}.png").exists():
        parts.append(f"![{module.CAPTION}](evaluated/{section}.png)")
    parts += ["What fails:", "\n".join(f"- {one}" for one in [*found.fails, *stored.notes])]
    files = enumerated([f"[{name}.csv](evaluated/{name}.csv)" for name in tables])
    return found, "\n\n".join([*filter(None, parts), f"All rows are in {files}."])


def anchor(heading: str) -> str:
    """Return the address of a heading in its page."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def read_csv(path: Path) -> Rows:
    """Read the rows of a table."""
    with path.open(newline="") as stream:
        return [tuple(row) for row in csv.reader(stream)][1:]


def markdown(columns: Sequence[str], rows: Rows) -> list[str]:
    """Return a table."""
    return ["| " + " | ".join(row) + " |" for row in (columns, ["---"] * len(columns), *rows)]


if __name__ == "__main__":
    main()
