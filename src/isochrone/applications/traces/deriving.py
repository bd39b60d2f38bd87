"""A description of an application, derived from what a program was seen to do.

Each place of what is repeated in its calls (`structure`) becomes a phase.
"""

import re
from collections.abc import Iterator, Sequence

from isochrone.applications.thresholds import MOST_OMITTED
from isochrone.applications.traces import graphs
from isochrone.applications.traces.attributing import gather_small
from isochrone.applications.traces.farms import Farm
from isochrone.applications.traces.gaps import Written, computation, plain
from isochrone.applications.traces.places import Again, Place, Tree, computed, flat, total
from isochrone.applications.traces.rounds import Round
from isochrone.applications.traces.structure import structure
from isochrone.applications.traces.trace import Trace
from isochrone.applications.traces.units import Message
from isochrone.base.operations import ROOTED


def describe(trace: Trace) -> tuple[Written, list[str]]:
    """Return a description as plain data, and warnings.

    Raises
    ------
    InputError
        If what the program does has no description; says why.
    """
    seen = structure(trace)
    tree, ranks, warnings = seen.tree, seen.ranks, seen.warnings
    gather_small([list(flat(tree))])
    loops = [node for node in tree if isinstance(node, Again)]
    around = [node for node in tree if isinstance(node, Place)]
    iterations, body = 1, tree
    if (  # a loop, and next to nothing around it
        len(loops) == 1
        and all(place.round.kind == "end" for place in around)
        and sum(map(computed, around)) <= MOST_OMITTED * sum(map(computed, flat(tree)))
    ):
        iterations, body = loops[0].times, loops[0].body
    app = {"name": named(trace.name), "ranks": ranks, "recorded": ranks, "iterations": iterations}
    if seen.omitted > 0:
        app["omitted"] = float(f"{seen.omitted:.2g}")
        warnings.append(f"omitted: {', '.join(trace.omitted)}; {seen.omitted:.2%} of the run time")
    app["phases"] = list(_phases(body, ranks, trace.groups, seen.farms))
    return {"isochrone": "app/1", "apps": [app]}, warnings


def named(name: str) -> str:
    """Return a name that a description may have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "program"


def _phases(
    tree: Tree, ranks: int, groups: list[tuple[int, ...]], farms: Sequence[Farm]
) -> Iterator[Written]:
    """Yield the phases of loops and rounds: the computation of each, if any, and what it is."""
    for node in tree:
        if isinstance(node, Again):
            inner = list(_phases(node.body, ranks, groups, farms))
            if inner:
                yield {"repeat": {"times": node.times, "phases": inner}}
            continue
        round_ = node.round
        if total(round_.before) > 0:
            yield {"compute": plain(computation(round_.before, ranks, node.period))}
        if round_.call is not None and round_.call.op == "farm":
            yield {"exchange": farms[round_.call.root].exchange(ranks)}
        elif round_.call is not None:
            op = round_.call.op
            options: Written = {} if op == "barrier" else {"bytes": round(round_.call.bytes)}
            if op in ROOTED and round_.call.root >= 0:
                first, *others = round_.among
                root = round_.call.root if others else first[round_.call.root]
                options |= {"root": root} if root else {}
            if round_.among != [list(groups[0])]:
                options["among"] = round_.among
            yield {op: options}
        elif round_.messages:
            yield {"exchange": _exchange(round_, ranks, node.period)}


def _exchange(round_: Round, ranks: int, period: int) -> Written:
    """Return the value of a key ``exchange``."""
    messages = round_.messages
    if round_.kind == "token":  # in the order in which it goes
        by_source = {message[0]: message for message in messages}
        messages, rank = [], round_.starter
        while len(messages) < len(round_.messages):
            messages.append(by_source[rank])
            rank = by_source[rank][1]
    request = round_.kind == "request"
    if request:
        requests = [m for m in messages if m[1] == round_.starter]
        size, answer = _mean(requests), _mean([m for m in messages if m[0] == round_.starter])
        topology = graphs.named(messages, round_.kind, ranks)
        listed = {"edges": [[a, b] for a, b, _ in requests]}
        exchange = {"topology": topology or listed, "flow": "request", "bytes": size}
        exchange |= {} if answer == size else {"reply": answer}
    else:
        common, *others = {round(size) for _, _, size in messages}
        topology = None if others else graphs.named(messages, round_.kind, ranks)
        if topology is None:
            listed_edges, common = graphs.edges(messages)
            topology = {"edges": listed_edges}
        exchange = {"topology": topology, "flow": round_.flow, "bytes": common}
    members = [round_.starter] if request else round_.ranks
    computing = {rank: spent for rank, spent in round_.within.items() if rank in members}
    if total(computing) > 0:
        value = computation(computing, ranks, 0 if request else period)
        if request:  # no one else computes in it
            value.pop("imbalance", None)
        exchange["compute"] = plain(value)
    return exchange


def _mean(messages: list[Message]) -> int:
    return round(sum(size for _, _, size in messages) / len(messages))
