"""End measurements by signals at random moments, and count what is left of them.

make signals; or: PYTHONPATH=tests python bench/signals.py --count 200 --seed 1 MPICC...
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from beds.endings import OPTIONS, faults, measure_and_signal
from beds.mpis import SCRIPTS

LONG = (*OPTIONS[:-1], "2000")
"""A measurement of some seconds."""

KINDS = (
    ("isochrone", signal.SIGTERM),
    ("isochrone", signal.SIGHUP),
    ("isochrone", signal.SIGINT),
    ("isochrone", signal.SIGKILL),
    ("launcher", signal.SIGTERM),
    ("launcher", signal.SIGKILL),
    ("rank", signal.SIGTERM),
    ("rank", signal.SIGKILL),
    ("rank", signal.SIGSEGV),
    ("keeper", signal.SIGKILL),
)


def main() -> int:
    """Try as often as asked for; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpicc", nargs="*", type=Path, default=[SCRIPTS / "mpicc"])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=4.0, help="seconds until the signal")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    counts: Counter[tuple[str, str]] = Counter()
    bad, slowest, began = 0, 0.0, time.monotonic()
    print(f"isochrone measure {' '.join(LONG)}, {args.count} times, seed {args.seed}")
    with tempfile.TemporaryDirectory() as scratch:
        for trial in range(args.count):
            mpicc = chance.choice(args.mpicc).absolute()
            target, number = chance.choice(KINDS)
            delay, again = chance.uniform(0, args.longest), chance.random() < 0.3
            ended = measure_and_signal(
                mpicc, target, number, delay, Path(scratch), again=again, options=LONG
            )
            name = f"{number.name} to {target}"
            wrong = faults(ended, target, number)
            counts[name, "signals" if ended.signalled else "too late"] += 1
            counts[name, ended.run.partition(":")[0]] += 1
            slowest = max(slowest, ended.gone_after)
            if wrong:
                bad += 1
                print(f"trial {trial}: {name} after {delay:.2f} s, {mpicc}: {'; '.join(wrong)}")
                print(f"    exit code {ended.returncode}; {ended.said!r}; {ended.warnings[-1:]}")
    print(f"\n{'':>22} {'signals':>8} {'too late':>8} {'absent':>8} {'partial':>8} {'complete':>8}")
    for target, number in KINDS:
        name = f"{number.name} to {target}"
        columns = ("signals", "too late", "absent", "partial", "complete")
        print(f"{name:>22} " + " ".join(f"{counts[name, column]:8}" for column in columns))
    print(
        f"{bad} of {args.count} wrong; the last process was gone {slowest:.1f} s after the "
        f"command at the latest; {time.monotonic() - began:.0f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
