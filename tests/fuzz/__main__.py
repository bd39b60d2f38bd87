"""`make fuzz SECONDS=3600`: damaged files for as long as there is time; what is found is kept.

usage: python -m fuzz SECONDS [--seed N] [--reader NAME …] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from pathlib import Path

from fuzz.campaign import Campaign, Found
from fuzz.readers import READERS


def main() -> int:
    """Run a campaign; exit code 1 if something was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--reader", choices=READERS, action="append")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"), metavar="FOLDER")
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    seen: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="isochrone-fuzz-") as folder:
        campaign = Campaign(Path(folder), readers=tuple(args.reader or READERS))
        for found in campaign.run(args.seconds, args.seed):
            if found.key not in seen:
                seen.add(found.key)
                _keep(found, args.keep)
    for reader in campaign.readers:
        print(f"{reader:14} {campaign.tried[reader]:9,} files")
    print(f"{'all':14} {campaign.tried.total():9,} files, {len(seen)} kinds of faults found")
    return 1 if seen else 0


def _keep(found: Found, folder: Path) -> None:
    """Write down what was found: the file, and the command line in its name's twin."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{found.reader}-{hashlib.sha256(found.data).hexdigest()[:12]}"
    (folder / name).write_bytes(found.data)
    (folder / f"{name}.txt").write_text(
        f"{found.command}\n{found.verdict.wrong}\n{found.verdict.said}\n", errors="replace"
    )
    print(f"{found.key}\n    {found.command}   {folder / name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
