"""Predict the time of a collective operation.

The model must be fitted to measurements of collectives. Predictions for other numbers of ranks need
measurements on several numbers of ranks. With --grid, two-phase algorithms are predicted: one
operation along the rows of a grid of ranks, one along its columns (docs/grid-collectives.md).
"""

import argparse

from isochrone.collectives.cli import grid_predictions
from isochrone.console.options import add_placement
from isochrone.models.cli.predictions import Predicted, add_model, add_values, answer

EXAMPLES = (
    (
        "how long does a broadcast of 1 MiB to 4,096 ranks take?",
        "isochrone predict collective --model bcast.json --ranks 4096 --bytes 1MiB",
    ),
    (
        "which grid of 64 ranks is fastest?",
        "isochrone predict collective --op allgather --ranks 64 --nodes 16 --grid best "
        "--bytes 64KiB --model m.json",
    ),
)


DOCUMENTS = {"predict-times": Predicted, "predict-grids": grid_predictions.OnGrids}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone predict collective``."""
    add_model(parser)
    parser.add_argument("--op", help="operation, such as bcast; required if the model has several")
    add_values(
        parser,
        ranks="numbers of ranks: 8 or 4,8,16 or 2:64:x2",
        nodes="numbers of nodes; two of --ranks, --nodes and --ppn determine the third",
        ppn="ranks on each node",
        bytes="bytes of a rank's block: 64KiB or 1KiB:1MiB:x4",
    )
    grid_predictions.add_grid(parser)
    add_placement(parser)


def run(args: argparse.Namespace) -> int:
    """Predict all combinations of ranks and bytes, on grids if asked for."""
    if args.grid is not None:
        return grid_predictions.answer(args)
    return answer(args, "collective", "op")
