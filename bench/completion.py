"""What a TAB costs: the time each shell takes to offer what comes next. Results are in docs.

PYTHONPATH=tests .venv/bin/python bench/completion.py
"""

from __future__ import annotations

import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

from beds.shells import SHELLS
from isochrone.cli.completion import script

LINES = (
    "isochrone ",
    "isochrone me",
    "isochrone measure ",
    "isochrone measure latency-map --",
    "isochrone measure collective --op ",
    "isochrone plot map.jsonl --view ",
    "isochrone predict collective --",
    "isochrone tune collective-io --",
)
TIMES = 5


def main() -> None:
    """Print the median and the longest time of each shell, in milliseconds."""
    with TemporaryDirectory() as folder:
        for shell, ask in SHELLS.items():
            path = Path(folder) / shell
            path.write_text(script(shell)[0])
            seconds = [took for took, _ in ask(path, LINES * TIMES)]
            median, longest = statistics.median(seconds), max(seconds)
            print(f"{shell:<5} median {1e3 * median:6.1f} ms, longest {1e3 * longest:6.1f} ms")


if __name__ == "__main__":
    main()
