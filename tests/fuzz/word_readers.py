"""Words of the command line that are little languages, through a command that reads them."""

from __future__ import annotations

from typing import Final

from fuzz.reader import Reader, word

__all__ = ["WORD_READERS"]

IO: Final = "predict collective-io --model ok-nodes.json"

WORD_READERS: Final[dict[str, Reader]] = {
    "nodes": word(f"{IO} --rows --nodes {{word}}", "2,2,1", "4"),
    "slurm-nodes": word(
        f"SLURM_JOB_NODELIST={{word}} SLURM_JOB_ID=7 SLURM_JOB_CPUS_PER_NODE=2(x2) {IO} --rows",
        "n[1-2]",
        "m2,n1",
        "a[01-02]",
    ),
    "slurm-tasks": word(
        f"SLURM_JOB_NODELIST=n[1-3] SLURM_JOB_ID=7 SLURM_JOB_CPUS_PER_NODE={{word}} {IO} --rows",
        "2(x3)",
        "2,1(x2)",
        "4,2,1",
    ),
    "sizes": word(
        "predict message --model ok-messages.json --bytes {word}", "64,1KiB", "1:1MiB:x2"
    ),
    "tiles": word(f"{IO} --nodes 2,2 --tiles {{word}}", "2x2", "4x1"),
    "blocks": word(f"{IO} --nodes 2,2 --blocks {{word}}", "2x2x1", "4x1"),
    "hints": word(
        f"{IO} --nodes 2,2 --rows --hints cb_config_list={{word}}", "*:1", "n1:2,n2", "*:*"
    ),
    "grid": word(
        "predict collective --model ok-clic.json --op bcast --ranks 8 --bytes 64KiB --grid {word}",
        "2x4",
        "best",
        "nodes",
    ),
    "platform": word(
        "platform {word} -o {out}", "nodes:4 cores:2 slow-node:1*10", "dragonfly:2x2x2"
    ),
    "settings": word(
        "export halo.yaml --to goal -o {out} --set p=8 --iterations 1 --set {word}",
        "edge=4",
        "variables=2",
    ),
    "sets": word(
        "predict app ok-app.yaml --model ok-messages.json --set {word}",
        "edge=4,8",
        "edge=4:16:x2",
    ),
    "select": word(f"{IO} --nodes 2,2 --rows --select {{word}}", "hot=1"),
    "fail-on": word(
        "compare ok-map.jsonl ok-map.jsonl --fail-on {word}", "slower:5%", "faster:10%"
    ),
    "allow": word("check ok-map.jsonl --allow {word}", "host=n3:30%", "pair=n1,n2", "level=2"),
    "columns": word(
        "fit ok-own.csv --map-columns {word}",
        "size=b,usec=seconds:us",
        "size=b:KiB,usec=seconds:us",
    ),
    "switches": word(
        "fit ok-sweep.jsonl --family hockney --known-breakpoint {word}", "b:12KiB,512KiB", "p:8"
    ),
    "order": word(
        "place orders --model ok-nodes.json --nodes 2,2,1 --rows --dry-run --orders {word}",
        "2,1,2",
        "mine=1,2,2",
    ),
    "duration": word("check ok-map.jsonl --threshold {word}", "5%", "3"),
}
"""Every option whose value is a little language, by name."""
