"""All that a run of emulated applications says, as numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from isochrone.applications.emulation import timing
from isochrone.applications.emulation.recorded import (
    App,
    Edge,
    PhaseSeconds,
    RankTime,
    applications,
    launched,
)
from isochrone.applications.emulation.timing import (
    PREEMPTED,
    Iterations,
    Phase,
    RankIterations,
    Shares,
    Slowdown,
    Wall,
    Whose,
)
from isochrone.applications.results.records import records
from isochrone.base.documents import Hidden
from isochrone.base.inference import Estimate
from isochrone.base.table import Table
from isochrone.runfile.run import Run

ALL = "all others"
"""What several applications are called beside another one, if there are no others."""

_OVERLAP = 0.95
"""Below this part of its time beside others, an application also ran without them."""

_DELIVERED = 0.02
"""Part by which computation alone may differ from what was asked for."""


@dataclass(frozen=True)
class Emulation:
    """What a run says.

    Attributes
    ----------
    apps
        The applications.
    repeats
        Repetitions of all launches.
    walls, slowdowns, iterations, shares, phases, ranks, edges
        See there; each in the order of the applications, alone first.
    simulated
        Whether the times are those of a simulator.
    unbound
        Whether applications were asked to share cores, and it cannot bind ranks.
    """

    apps: list[App]
    repeats: int
    walls: list[Wall]
    slowdowns: list[Slowdown]
    iterations: list[Iterations]
    shares: list[Shares]
    phases: list[Phase]
    ranks: list[RankIterations]
    edges: Hidden[list[Edge]]
    simulated: Hidden[bool]
    unbound: Hidden[bool]

    def beside(self, names: tuple[str, ...]) -> str:
        """Say what an application ran beside: empty if alone, names, or ``all others``."""
        return ALL if len(names) > 1 and len(names) == len(self.apps) - 1 else " + ".join(names)

    def names(self, whose: Whose) -> tuple[str, str]:
        """Return the name of an application, and what it ran beside; a dash if alone."""
        return whose.app, self.beside(whose.beside) or "–"

    def clear(self) -> list[Slowdown]:
        """List the significant slowdowns, the largest first."""
        slowdowns = [slowdown for slowdown in self.slowdowns if slowdown.differs]
        return sorted(slowdowns, key=lambda slowdown: -slowdown.wall.median)

    def columns(self) -> list[str]:
        """List what applications ran beside, as `beside` says it: single ones first."""
        sets = sorted({(len(of.others), of.others, of.beside) for of in self.slowdowns})
        return list(dict.fromkeys(self.beside(names) for _, _, names in sets))

    def alone(self, app: int) -> Wall | None:
        """Return the wall time of an application alone; None if it never was."""
        return next((wall for wall in self.walls if wall.number == app and not wall.beside), None)

    def doubts(self) -> list[str]:
        """Say what makes the numbers doubtful, beside the warnings of the run."""
        doubts = []
        short = [wall for wall in self.walls if wall.overlap < _OVERLAP]
        if short:
            shortest = min(short, key=lambda wall: wall.overlap)
            name, others = self.names(shortest)
            further = f" (more such cases: {len(short) - 1})" if len(short) > 1 else ""
            doubts.append(
                f"{others} ended early and disturbed {name} only {100 * shortest.overlap:.0f} % of "
                f"its time{further}: use 'background: true' or more iterations"
            )
        shares_alone = [share for share in self.shares if not share.beside]
        rate = max((share.switches for share in shares_alone), default=0.0)
        # what the operating system does to a simulator is no part of the applications
        if rate >= PREEMPTED and not self.simulated:
            doubts.append(
                f"a rank of an application alone was preempted {rate:,.0f} times a second: other "
                "programs or the operating system make it slower"
            )
        doubts += [
            f"{share.app} alone computed {100 * abs(share.delivered - 1):.0f} % "
            f"{'longer' if share.delivered > 1 else 'shorter'} than requested"
            for share in shares_alone
            if abs(share.delivered - 1) > _DELIVERED
        ]
        return doubts


def emulation(run: Run) -> Emulation:
    """Summarise a run; a partial one with what it has.

    Raises
    ------
    InputError
        If the run is none of applications, or a record is damaged.
    """
    apps, launches = applications(run), launched(run)
    sets = timing.by_set(apps, launches)
    return Emulation(
        apps=apps,
        repeats=len({launch.repeat for launch in launches}),
        walls=timing.walls(apps, sets),
        slowdowns=timing.slowdowns(sets),
        iterations=timing.iterations(sets),
        shares=timing.shares(sets, records(run, "rank_time", RankTime)),
        phases=timing.phases(apps, sets, records(run, "phase_time", PhaseSeconds)),
        ranks=timing.rank_iterations(sets, run.tables.get("rank_time", Table()).rows()),
        edges=records(run, "edge", Edge),
        simulated=run.clock.simulated,
        unbound=any(warning.get("code") == "not-bound" for warning in run.warnings),
    )


# --- one description with several numbers of ranks on a node --------------------------------------


def ranks_on_node(run: Run) -> int:
    """Return the number of ranks on the node that has most."""
    return max(Counter(run.hosts).values())


Shared = list[tuple[int, Estimate, Estimate]]


def sharing(runs: Sequence[Run]) -> dict[str, Shared]:
    """Return (ranks on a node, wall time in seconds, slowdown) of each application that takes time.

    An application has a row of its own for each set of others that ran at the same time. The
    slowdown is the wall time divided by that with fewest ranks on a node. The repetitions are of
    different jobs, so its interval is from the least possible ratio to the largest.
    """
    rows: dict[str, Shared] = {}
    for run in sorted(runs, key=ranks_on_node):
        summary = emulation(run)
        for wall in summary.walls:
            name = wall.app
            if wall.beside:
                name += f" with {summary.beside(wall.beside)}"
            seconds = wall.seconds
            if seconds.median > 0:
                of = rows.setdefault(name, [])
                base = of[0][1] if of else seconds
                ratios = (
                    seconds.median / base.median,
                    seconds.low / base.high,
                    seconds.high / base.low,
                )
                of.append((ranks_on_node(run), seconds, Estimate(seconds.n, *ratios)))
    return rows
