"""Predict the time of a collective operation.

The model must be fitted to measurements of collectives; to predict with --ranks, these must cover
several numbers of ranks. Values outside its range have wider intervals, and a warning.

With --grid, a two-phase algorithm is predicted: one operation along the rows of a grid of ranks,
one along its columns. Its time is the sum of both phases. All rows (or columns) communicate at the
same time; if it was measured how much they slow each other down, the time is longer by this factor.
`all` lists all grids and the library's own algorithm; `best` sorts these, the fastest first
(docs/grid-predicting.md).
"""

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
    parser.add_argument("--op", help="operation, such as bcast; required if the model has several")
    add_values(
        parser,
        ranks="numbers of ranks: 8 or 4,8,16 or START:STOP:STEP or START:STOP:xFACTOR",
        nodes="number of nodes, a list as for --ranks; two of --ranks, --nodes, --ppn are enough",
        ppn="ranks on each node, as for --ranks",
        bytes="block of a rank: 64KiB, or a list as for --ranks; not for a barrier",
    )
    grid_predictions.add_grid(parser)


def run(args: argparse.Namespace) -> int:
    """Predict all combinations of ranks and bytes, on grids if asked for."""
    if args.grid is not None:
        return grid_predictions.answer(args)
    return answer(args, "collective", "op")
