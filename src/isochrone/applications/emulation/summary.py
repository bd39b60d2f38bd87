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
    Shares,
    Slowdown,
    Wall,
    Whose,
)
from isochrone.applications.results.records import records
from isochrone.base.documents import Hidden
from isochrone.base.inference import Estimate
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
    walls, slowdowns, iterations, shares, phases, edges
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
    edges: Hidden[list[Edge]]
    simulated: Hidden[bool]
    unbound: Hidden[bool]

    def beside(self, names: tuple[str, ...]) -> str:
        """Say what an application ran beside: empty if alone, names, or ``all others``."""
        return ALL if len(names) > 1 and len(names) == len(self.apps) - 1 else " + ".join(names)

    def names(self, one: Whose) -> tuple[str, str]:
        """Return the name of an application, and what it ran beside; a dash if alone."""
        return one.app, self.beside(one.beside) or "–"

    def clear(self) -> list[Slowdown]:
        """List the significant slowdowns, the largest first."""
        found = [one for one in self.slowdowns if one.differs]
        return sorted(found, key=lambda one: -one.wall.median)

    def columns(self) -> list[str]:
        """List what applications ran beside, as `beside` says it: single ones first."""
        sets = sorted({(len(one.others), one.others, one.beside) for one in self.slowdowns})
        return list(dict.fromkeys(self.beside(names) for _, _, names in sets))

    def alone(self, app: int) -> Wall | None:
        """Return the wall time of an application alone; None if it never was."""
        return next((one for one in self.walls if one.number == app and not one.beside), None)

    def doubts(self) -> list[str]:
        """Say what makes the numbers doubtful, beside the warnings of the run."""
        said = []
        short = [one for one in self.walls if one.overlap < _OVERLAP]
        if short:
            least = min(short, key=lambda one: one.overlap)
            name, others = self.names(least)
            more = f" (more such cases: {len(short) - 1})" if len(short) > 1 else ""
            said.append(
                f"{others} ended early and disturbed {name} only {100 * least.overlap:.0f} % of "
                f"its time{more}: use 'background: true' or more iterations"
            )
        alone = [one for one in self.shares if not one.beside]
        rate = max((one.switches for one in alone), default=0.0)
        # what the operating system does to a simulator is no part of the applications
        if rate >= PREEMPTED and not self.simulated:
            said.append(
                f"a rank of an application alone was preempted {rate:,.0f} times a second: other "
                "programs or the operating system make it slower"
            )
        said += [
            f"{one.app} alone computed {100 * abs(one.delivered - 1):.0f} % "
            f"{'longer' if one.delivered > 1 else 'shorter'} than requested"
            for one in alone if abs(one.delivered - 1) > _DELIVERED
        ]  # fmt: skip
        return said


def emulation(run: Run) -> Emulation:
    """Summarise a run; a partial one with what it has.

    Raises
    ------
    InputError
        If the run is none of applications, or a record is damaged.
    """
    apps, found = applications(run), launched(run)
    return Emulation(
        apps=apps,
        repeats=len({one.repeat for one in found}),
        walls=timing.walls(apps, found),
        slowdowns=timing.slowdowns(apps, found),
        iterations=timing.iterations(apps, found),
        shares=timing.shares(apps, found, records(run, "rank_time", RankTime)),
        phases=timing.phases(apps, found, records(run, "phase_time", PhaseSeconds)),
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
    made: dict[str, Shared] = {}
    for run in sorted(runs, key=ranks_on_node):
        found = emulation(run)
        for wall in found.walls:
            name = wall.app
            if wall.beside:
                name += f" with {found.beside(wall.beside)}"
            one = wall.seconds
            if one.median > 0:
                of = made.setdefault(name, [])
                base = of[0][1] if of else one
                ratios = one.median / base.median, one.low / base.high, one.high / base.low
                of.append((ranks_on_node(run), one, Estimate(one.n, *ratios)))
    return made
