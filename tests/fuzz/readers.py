"""Every kind of file that a command reads: an undamaged one, and the commands that read it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fuzz.reader import Reader
from fuzz.run_readers import RUN_READERS
from fuzz.seeds import (
    archives,
    copies,
    dumpi,
    exported,
    liballprof,
    models,
    small_map,
    table_of_times,
    texts,
)
from fuzz.word_readers import WORD_READERS
from made_up import tuning_tables

__all__ = ["READERS", "beside", "seeds_of"]

PLACE: Final = "place nodes --model ok-nodes.json --rows --search-time 0.2"
IO: Final = "predict collective-io --model ok-nodes.json"


def seeds_of(name: str, folder: Path) -> list[bytes]:
    """Return what the undamaged files of a reader hold."""
    folder.mkdir(parents=True, exist_ok=True)
    return [(folder / one).read_bytes() for one in READERS[name].seeds(folder)]


def beside(command: str) -> list[str]:
    """Return the undamaged files that a command line names."""
    return [word for word in command.split() if word.startswith("ok-") or word == "halo.yaml"]


def _sniffed(name: str, pattern: str, more: str = "") -> Reader:
    """Read what another program printed, also where a run file may stand."""
    return Reader(
        "text",
        (
            f"import {{file}} --from {name} -o {{out}} {more}",
            f"fit {{file}} --family hockney {more}",
            f"compare {{file}} {{file}} --one-launch --json {more}",
        ),
        copies(pattern),
    )


FILE_READERS: Final[dict[str, Reader]] = {
    "model": Reader(
        "tree",
        (
            "predict collective --model {file} --op bcast --ranks 8 --bytes 1KiB",
            "predict message --model {file} --bytes 1KiB",
            "predict collective --model {file} --op bcast --ranks 2,4 --bytes 8,1MiB",
            f"{IO.replace('ok-nodes.json', '{file}')} --nodes 2,2,1 --rows --json",
            "predict app halo.yaml --model {file} ok-messages.json --set p=8",
            "place nodes --model {file} --nodes 2,2,1 --rows --search-time 0.2 --dry-run",
            "place aggregators --model {file} --nodes 2,2,1 --rows --dry-run",
            "place orders --model {file} --nodes 2,2,1 --rows --dry-run --max-orders 3",
            "plot ok-sweep.jsonl --view fit --model {file} -o {out}.svg",
            "tune collectives ok-grids.jsonl --model {file} --ranks 8 --ppn 2 --bytes 64KiB",
        ),
        models,
        2,
    ),
    "fit-csv": Reader(
        "text",
        (
            "fit {file}",
            "fit {file} --family hockney --json",
            "compare {file} {file} --one-launch",
            "plot {file} -o {out}.svg --family hockney",
        ),
        texts(
            table_of_times(),
            "b,seconds\n" + "".join(f"{2**k},{1e-6 + 2**k * 1e-9}\n" for k in range(12)),
            "launch,b,seconds\n"
            + "".join(f"{n},{2**k},{1e-6 + 2**k * 1e-9}\n" for n in range(3) for k in range(4)),
        ),
        2,
    ),
    "own-csv": Reader(
        "text",
        (
            "fit {file} --map-columns size=b,usec=seconds:us",
            "compare {file} {file} --map-columns size=b,usec=seconds:us --one-launch",
        ),
        texts(
            "size;usec\n"
            + "".join(f"{2**k};{1 + 2**k / 1e3}\n".replace(".", ",") for k in range(9)),
            "size\tusec\n" + "".join(f"{2**k}\t{1 + 2**k / 1e3}\n" for k in range(9)),
        ),
    ),
    "named-columns": Reader(
        "text",
        ("fit {file} --ranks 4", "compare {file} {file} --one-launch"),
        texts(
            "# Size   Avg Latency(us)\n" + "".join(f"{2**k}  {1 + 2**k}\n" for k in range(9)),
            "Processes,MessageSize,Latency,MinLatency\n"
            + "".join(f"{p},{2**k},{p + 2**k},1\n" for p in (2, 4, 8) for k in range(4)),
        ),
    ),
    "extra-p": Reader(
        "text",
        ("fit {file}", "compare {file} {file} --one-launch"),
        texts(
            "PARAMETER p size\nPOINTS (2 8) (4 8)\nPOINTS (2 64) (4 64)\nREGION bcast\n"
            "METRIC time_us\nDATA 1 1.1\nDATA 2\nDATA 2\nDATA 4\n",
            "".join(
                json.dumps({"params": {"p": p, "size": b}, "metric": "time_us", "value": [p + b]})
                + "\n"
                for p in (2, 4, 8)
                for b in (8, 64)
            ),
        ),
    ),
    "mmpi": Reader(
        "text",
        ("import {file} --from mmpi -o {out}", "compare {file} {file} --one-launch"),
        copies("tests/golden/mmpi/[cpltm]*.log"),
    ),
    "osu": _sniffed("osu", "tests/golden/osu/*.txt", "--ranks 4"),
    "imb": _sniffed("imb", "tests/golden/imb/*.txt"),
    "darshan": Reader(
        "text",
        ("import {file} --from darshan -o {out}", "show {file}"),
        copies("tests/golden/darshan/*.txt"),
    ),
    "nccl-tests": _sniffed("nccl-tests", "tests/golden/nccl-tests/*.txt"),
    "csv": Reader(
        "text",
        ("import {file} --from csv -o {out}", "compare {file} ok-map.jsonl --one-launch"),
        exported("csv", small_map),
    ),
    "matrix": Reader(
        "text",
        (
            "import {file} --from matrix --unit us --one-way -o {out}",
            "show {file} --unit GB/s --json",
        ),
        texts(
            ",,,\n7.5,,,\n17.7,17.9,,\n80,81,7.6,\n",
            "Bandwidth Matrix (GB/s)\n  D\\D  0  1  2\n 0  9 20 22\n 1 25  9 22\n 2 22 22  9\n",
            "START mpiGraph\nMsgSize\t4096\nSend\ta:0\tb:1\t\na:0 to\t0.0\t2.5\t\n"
            "b:1 to\t3.5\t0.0\t\n",
            '<p>hp2p var hostlist = \n["a", "b", "c", ];\nvar bandwidth = \n[ [ 0.0, 2.0, 2.1, ], '
            "[ 3.0, 0.0, 2.0, ], [ 2.0, 3.0, 0.0, ], ]\n;\n",
        ),
        2,
    ),
    "linktest": Reader(
        "binary",
        ("import {file} --from linktest -o {out}", "show {file}"),
        copies("tests/golden/linktest/*.sion"),
    ),
    "npz": Reader("zip", ("import {file} --from npz -o {out}",), exported("npz", small_map)),
    "matlab": Reader(
        "binary", ("import {file} --from matlab -o {out}",), exported("matlab", small_map)
    ),
    "liballprof": Reader("text", ("import {file} --from liballprof -o {out}",), liballprof),
    "dumpi": Reader("text", ("import {file} --from dumpi -o {out}",), dumpi),
    "goal": Reader(
        "text",
        ("import {file} --from goal -o {out}",),
        texts(
            "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 0\nl2: calc 5\nl2 requires l1\n}\n"
            "rank 1 {\nl1: recv 8b from 0 tag 0 cpu 0\n}\n",
        ),
    ),
    "mpip": Reader(
        "text",
        ("import {file} --from mpip -o {out}", "show {file}"),
        copies("tests/golden/mpip/*.txt"),
    ),
    "host-file": Reader(
        "text",
        (
            f"{IO} --hostfile {{file}} --rows",
            f"{PLACE} --hostfile {{file}} --json",
            *(
                f"{PLACE} --hostfile {{file}} --to {form} -o {{out}}"
                for form in ("hydra", "openmpi", "openmpi-rankfile", "slurm", "flux", "pbs", "cray")
            ),
            "place aggregators --model ok-nodes.json --rows --hostfile {file} -o {out}",
            "place orders --model ok-nodes.json --rows --hostfile {file} --dry-run --max-orders 3",
        ),
        texts("n1:4\nn2:2\nn3:1\n", "n1 slots=2\nn2 slots=2\n# x\n", "n1\nn1\nn2\n"),
    ),
    "access-table": Reader(
        "text",
        (
            f"{IO} --table {{file}} --nodes 2,2",
            f"{IO} --table {{file}} --nodes 2,2 --figure {{out}}.svg",
            "place aggregators --model ok-nodes.json --table {file} --nodes 2,2 --dry-run",
        ),
        texts(
            "rank offset length\n0 0 100\n1 100 100\n2 200 100\n3 300 100\n",
            "0,0,64,4,256\n1,64,64,4,256\n2,128,64,4,256\n3,192,64,4,256\n",
        ),
    ),
    "application": Reader(
        "text",
        (
            "predict app {file} --model ok-messages.json",
            "predict app {file} --model ok-messages.json --json --set p=4,8",
            "export {file} --to goal -o {out} --set p=4 --iterations 1",
            "export {file} --to simgrid-ti -o {out} --speed 1e9 --set p=4 --iterations 1",
        ),
        copies("examples/apps/*.yaml", "examples/jacobi/row.yaml"),
        2,
    ),
    "graphml": Reader(
        "text",
        ("export ok-graph.yaml --to goal -o {out} --iterations 1",),
        texts(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
            '<key id="d0" for="edge" attr.name="bytes" attr.type="int"/>\n'
            '<graph edgedefault="undirected">\n<node id="0"/>\n<node id="1"/>\n<node id="2"/>\n'
            '<edge source="0" target="1"><data key="d0">64</data></edge>\n'
            '<edge source="1" target="2"/>\n</graph>\n</graphml>\n'
        ),
    ),
    "orders": Reader(
        "tree",
        ("plot {file} --view orders -o {out}.svg",),
        copies("examples/collective-io/orders.json"),
        0.3,
    ),
    "tuning-table": Reader(
        "tree",
        ("run --tuning {file} -- no-such-launcher",),
        texts(
            json.dumps(tuning_tables.document(tuning_tables.rule())),
            json.dumps(tuning_tables.document(tuning_tables.rule(op="bcast", ranks=8, grid="2x4"))),
        ),
    ),
    "settings-file": Reader(
        "text",
        (
            "ISOCHRONE_SITE_CONFIG={file} config",
            "ISOCHRONE_SITE_CONFIG={file} config --json",
            "ISOCHRONE_SITE_CONFIG={file} check ok-map.jsonl",
            "XDG_CONFIG_HOME={config} config",
        ),
        texts(
            'launcher = "srun"\nlauncher-args = ["--exclusive", "-p x"]\n'
            '[limits]\ntimeout = "10min"\n',
            'mpicc = "mpicc"\n',
        ),
    ),
    **(
        {
            "otf2": Reader(
                "archive", ("import {archive}/traces.otf2 --from otf2 -o {out}",), archives, 0.2
            )
        }
        if find_spec("otf2")
        else {}
    ),
}

READERS: Final[dict[str, Reader]] = {**RUN_READERS, **FILE_READERS, **WORD_READERS}
"""Every kind of file, and every option whose value is a little language, by name."""
