"""The command: ``isochrone``, or ``python -m isochrone``."""

import os
import signal
import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line; return the exit code.

    Until the command handles signals itself, Ctrl-C ends it at once and without a traceback:
    nothing was begun while it is imported.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    try:
        from isochrone.cli.main import main as run  # takes 0.3 s
    except MemoryError:
        print("isochrone: there is not enough memory (see ulimit -v)", file=sys.stderr)
        return 2
    return run()


if __name__ == "__main__":
    sys.exit(main())
