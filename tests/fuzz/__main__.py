"""`make fuzz SECONDS=3600`: damaged files for as long as there is time; what is found is kept.

usage: python -m fuzz SECONDS [--seed N] [--reader NAME …] [--keep FOLDER]

SIGTERM and Ctrl-C end it. How many files were tried is kept, too, one file a seed: several
campaigns, one after the other or at once, are added up.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fuzz.batches import batches
from fuzz.campaign import Campaign, Found
from fuzz.readers import READERS


def main() -> int:
    """Run a campaign; exit code 1 if something was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("seconds", type=float, help="0: only add up what was tried")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--reader", choices=READERS, action="append")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"), metavar="FOLDER")
    args = parser.parse_args()
    args.keep.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    if args.seconds > 0:
        print(f"seed {args.seed}", flush=True)
        with tempfile.TemporaryDirectory(prefix="isochrone-fuzz-", dir=_memory()) as folder:
            campaign = Campaign(Path(folder), readers=tuple(args.reader or READERS))
            _run(campaign, args, seen)
        _print(campaign.tried, f"{len(seen)} kinds of faults found")
    _print(_added_up(args.keep), f"in all campaigns of {args.keep}")
    return 1 if seen else 0


def _run(campaign: Campaign, args: argparse.Namespace, seen: set[str]) -> None:
    """Try files until the time is over or a signal comes; keep what is found and the counts."""
    # Commands handle signals, too, and would take one for theirs: from here on they run elsewhere.
    campaign.warm_up()
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, frame: signals.append(number))
    print("ready", flush=True)
    counts = args.keep / f"{args.seed}-{os.getpid()}.counts.json"
    for found in batches(campaign, args.seconds, args.seed, lambda: bool(signals)):
        if found is not None and found.key not in seen:
            seen.add(found.key)
            _keep(found, args.keep)
        counts.write_text(json.dumps(campaign.tried))


def _memory() -> Path | None:
    """Return a folder in memory, where files are written faster than on a disk."""
    shared = Path("/dev/shm")
    return shared if os.access(shared, os.W_OK) and "TMPDIR" not in os.environ else None


def _keep(found: Found, folder: Path) -> None:
    """Write down what was found: the file, and the command line in its name's twin."""
    name = f"{found.reader}-{hashlib.sha256(found.data).hexdigest()[:12]}"
    (folder / name).write_bytes(found.data)
    (folder / f"{name}.txt").write_text(
        f"{found.command}\n{found.verdict.wrong}\n{found.verdict.said}\n", errors="replace"
    )
    print(f"{found.key}\n    {found.command}   {folder / name}", flush=True)


def _added_up(folder: Path) -> Counter[str]:
    """Return how many files of each kind were tried in all campaigns of a folder."""
    tried: Counter[str] = Counter()
    for path in folder.glob("*.counts.json"):
        tried.update(json.loads(path.read_text()))
    return tried


def _print(tried: Counter[str], words: str) -> None:
    for reader, count in sorted(tried.items()):
        print(f"{reader:14} {count:9,} files")
    print(f"{'all':14} {tried.total():9,} files, {words}")


if __name__ == "__main__":
    sys.exit(main())
