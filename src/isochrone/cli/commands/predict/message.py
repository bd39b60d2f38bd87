"""Predict the time of a point-to-point message.

The model must be fitted to runs of point-to-point, or of bisection, where all pairs send at once.
"""

import argparse

from isochrone.models.cli.predictions import Predicted, add_model, add_values, answer

EXAMPLES = (
    ("two sizes", "isochrone predict message --model sizes.json --bytes 1KiB,1MiB"),
    ("a range of sizes, for scripts",
     "isochrone predict message --model sizes.json --bytes 64:1MiB:x4 --json"),
)  # fmt: skip


DOCUMENTS = {"predict-times": Predicted}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone predict message``."""
    add_model(parser)
    parser.add_argument("--mode", help="mode, such as blocking; required if the model has several")
    add_values(
        parser,
        bytes="bytes of a message: 64KiB or 1KiB,2KiB or START:STOP:STEP or START:STOP:xFACTOR",
        window="messages in a window (default: as measured): a list as for --bytes",
        ranks="numbers of ranks, if the model is of a bisection: a list as for --bytes",
    )


def run(args: argparse.Namespace) -> int:
    """Predict all combinations of bytes, windows and ranks."""
    return answer(args, "message", "mode")
