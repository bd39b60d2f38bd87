"""Predict the time of a point-to-point message.

The model must be fitted to runs of point-to-point, or of bisection (all pairs send at once).
"""

import argparse

from isochrone.models.cli.predictions import Predicted, add_model, add_values, answer

EXAMPLES = (
    (
        "how long do messages of 1 KiB and 1 MiB take?",
        "isochrone predict message --model sizes.json --bytes 1KiB,1MiB",
    ),
    (
        "a range of sizes, as JSON",
        "isochrone predict message --model sizes.json --bytes 64:1MiB:x4 --json",
    ),
)


DOCUMENTS = {"predict-times": Predicted}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone predict message``."""
    add_model(parser)
    parser.add_argument("--mode", help="mode, such as blocking; required if the model has several")
    add_values(
        parser,
        bytes="bytes per message: 64KiB or 1KiB,2KiB or 64:1MiB:x4",
        window="numbers of messages in flight (default: as measured)",
        ranks="numbers of ranks, if the model is of a bisection",
    )


def run(args: argparse.Namespace) -> int:
    """Predict all combinations of bytes, windows and ranks."""
    return answer(args, "message", "mode")
