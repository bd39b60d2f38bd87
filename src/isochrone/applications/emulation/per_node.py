"""What it costs that ranks share nodes: one description with several numbers of ranks on a node."""

from collections import Counter
from collections.abc import Sequence

from isochrone.applications.emulation.summary import emulation
from isochrone.base.inference import Estimate
from isochrone.runfile.run import Run


def ranks_on_node(run: Run) -> int:
    """Return the number of ranks on the node that has most."""
    return max(Counter(run.hosts).values())


def sharing(runs: Sequence[Run]) -> dict[str, list[tuple[int, Estimate, Estimate]]]:
    """Return (ranks on a node, wall time in seconds, slowdown) of each application that takes time.

    An application has a row of its own for each set of others that ran at the same time. The
    slowdown is the wall time divided by that with fewest ranks on a node. The repetitions are of
    different jobs, so its interval is from the least possible ratio to the largest.
    """
    made: dict[str, list[tuple[int, Estimate, Estimate]]] = {}
    for run in sorted(runs, key=ranks_on_node):
        found = emulation(run)
        for wall in found.walls:
            name = found.apps[wall.app].name
            if wall.beside:
                name += f" with {found.beside(wall.beside)}"
            one = wall.seconds
            if one.median > 0:
                of = made.setdefault(name, [])
                base = of[0][1] if of else one
                ratios = one.median / base.median, one.low / base.high, one.high / base.low
                of.append((ranks_on_node(run), one, Estimate(one.n, *ratios)))
    return made
