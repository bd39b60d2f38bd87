"""The command: ``isochrone``, or ``python -m isochrone``."""

import gc
import os
import signal
import sys

__all__ = ["main"]

RARELY = 100_000
"""Objects that are made before those in cycles are looked for: imports make many, and no cycles."""


def main() -> int:
    """Run the command line; return the exit code.

    Until the command handles signals itself, Ctrl-C ends it at once and without a traceback:
    nothing was begun while it is imported.
    """
    gc.set_threshold(RARELY)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    try:
        from isochrone.base.signals import ENDING
        from isochrone.cli.main import main as run  # takes 0.3 s
    except MemoryError:
        print("isochrone: there is not enough memory (see ulimit -v)", file=sys.stderr)
        return 2
    code = run()
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)  # a second signal leaves the exit code as it is
    gc.freeze()  # nothing is looked for at the end
    return code


if __name__ == "__main__":
    sys.exit(main())
