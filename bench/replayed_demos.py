"""Whether demos on a busy machine say anything impossible: stored runs, drawn anew.

make bench, or alone: PYTHONPATH=src:tests .venv/bin/python bench/replayed_demos.py --count 200
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from pathlib import Path

from made_up.replayed import said_impossible


def replayed_demos(count: int = 200) -> None:
    """Show and fit replayed demos; print how many say something impossible, and what."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(count):
            with contextlib.redirect_stderr(io.StringIO()):
                wrong = said_impossible(seed, Path(folder))
            if wrong:
                found[seed] = wrong
    print(f"\n{count} replayed demos: {len(found)} with impossible statements (limit 0)")
    for seed, wrong in found.items():
        print(f"  {seed}: {', '.join(wrong)}")


def main() -> None:
    """Run this benchmark alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many demos")
    replayed_demos(parser.parse_args().count)


if __name__ == "__main__":
    main()
