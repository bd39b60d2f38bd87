"""Predict the time of a collective operation.

The model must be of collectives, fitted to measurements on several numbers of ranks if --ranks is
to be given. A question that it cannot answer is refused: about ranks or bytes that no formula of it
holds, about a single rank if none was measured, or where the formula falls to zero.

With --grid the operation is two operations of the library on p1 rows of p2 ranks, and its time the
sum of both, times what concurrent groups slow each other down if that was measured; best ranks all
grids and the library's own, cheapest first (docs/grid-collectives.md).
"""

from __future__ import annotations

import argparse

from isochrone.collectives.cli import grid_predictions
from isochrone.models.cli.predictions import Predicted, add_model, add_values, answer

EXAMPLES = (
    ("a broadcast of 1 MiB to 4,096 ranks",
     "isochrone predict collective --model bcast.json --ranks 4096 --bytes 1MiB"),
    ("which grid of ranks is fastest",
     "isochrone predict collective --op allgather --ranks 64 --nodes 16 --grid best "
     "--bytes 64KiB --model m.json"),
)  # fmt: skip


DOCUMENTS = {"predict-times": Predicted, "predict-grids": grid_predictions.OnGrids}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone predict collective``."""
    add_model(parser)
    parser.add_argument("--op", help="operation, such as bcast, if the model holds several")
    add_values(
        parser,
        ranks="numbers of ranks: 8 or 4,8,16 or START:STOP:STEP or START:STOP:xFACTOR",
        nodes="numbers of nodes, as for --ranks; two of --ranks, --nodes and --ppn are enough",
        ppn="ranks on each node, as for --ranks",
        bytes="block of a rank: 64KiB, or a list as for --ranks; not for a barrier",
    )
    grid_predictions.add_grid(parser)


def run(args: argparse.Namespace) -> int:
    """Predict all combinations of ranks and bytes, on grids if asked for."""
    if args.grid is not None:
        return grid_predictions.answer(args)
    return answer(args, "collective", "op")
