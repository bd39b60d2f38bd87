"""Descriptions of applications, drawn at random: all of them are right."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["descriptions"]

SMALL = st.integers(1, 6)


def times() -> st.SearchStrategy[Any]:
    """Return a time, an expression or a distribution."""
    micro = SMALL.map(lambda n: f"{n}us")
    return st.one_of(
        micro,
        st.just("2*n/p * 1ns"),
        st.fixed_dictionaries({"exponential": st.fixed_dictionaries({"mean": micro})}),
        st.just({"normal": {"mean": "20us", "stddev": "30us"}}),
        st.just({"lognormal": {"median": "20us", "sigma": 1.5}}),
        st.just({"lognormal": {"mean": "20us", "stddev": "5us"}}),
        st.just({"gamma": {"shape": 4, "scale": "5us"}}),
        st.just({"poisson": {"tasks": 3, "each": "1us"}}),
        st.just({"constant": "1us"}),
        st.just({"empirical": ["1us", "2us", "3us"]}),
        st.just({"empirical": {"1us": 1, "2us": 0.5}}),
    )


def computations() -> st.SearchStrategy[Any]:
    """Return computation: a time, or a mapping with one."""
    imbalance = st.sampled_from([1.5, {"0": 2}, {"normal": {"mean": 1, "stddev": 0.1}}])
    whole = st.fixed_dictionaries(
        {"time": times()},
        optional={"mode": st.sampled_from(["cpu", "spin", "sleep"]), "imbalance": imbalance},
    )
    return st.one_of(st.just("n * 1ns"), st.just("10us"), st.just(0), whole)


def sizes() -> st.SearchStrategy[Any]:
    """Return sizes of messages."""
    return st.sampled_from(
        [0, 8, "4KiB", "8*n/p", {"exponential": {"mean": "1KiB"}}, {"empirical": [8, "1KiB"]}]
    )


@st.composite
def collectives(draw: st.DrawFn) -> dict[str, Any]:
    """Return a collective operation."""
    op = draw(
        st.sampled_from(
            ["barrier", "bcast", "allreduce", "allgather", "scan", "alltoall", "gather"]
        )
    )
    if op == "barrier":
        return {op: draw(st.sampled_from([None, {}]))}
    given = {"bytes": draw(sizes())}
    if op in ("bcast", "gather") and draw(st.booleans()):
        given["root"] = draw(st.sampled_from([0, "p - 1"]))
    elif op not in ("bcast", "gather") and draw(st.booleans()):
        given["among"] = draw(st.sampled_from([[[0, "p - 1"]], [["p - 1"], [0]]]))
    if op != "scan" and draw(st.booleans()):
        given["grid"] = draw(st.sampled_from(["nodes", "rows-of-2"]))
    return {op: given}


def topologies(ranks: int) -> st.SearchStrategy[tuple[Any, tuple[str, ...]]]:
    """Return topologies for a number of ranks from 2, and flows that each allows; "" is its own."""
    ring = [[r, (r + 1) % ranks] for r in range(ranks)]
    path = {
        "edges": [{"from": r, "to": r + 1, "bytes": 8 * r, "count": 2} for r in range(ranks - 1)]
    }
    star = ("", "request", "farm", "exchange", "stream", "token")
    both = ("", "exchange", "stream")
    choices: list[tuple[Any, tuple[str, ...]]] = [
        ("client-server", star[:5]),
        ("task-farm", star[:5]),
        ("token-ring", ("", "token", "exchange")),
        ("pipeline", ("", "stream", "exchange")),
        ({"halo": {"dimensions": 2, "periodic": True}}, both),
        ({"halo": {"shape": ["p"]}}, both),
        ("halo", both),
        ("all-to-all", both),
        ("tree", both),
        ({"tree": {"degree": 3}}, both),
        ({"edges": ring}, ("", "token", "exchange")),
        (path, ("", "stream", "exchange")),
        ({"networkx": {"generator": "star_graph", "n": "p - 1"}}, (*star[:5],)),
    ]
    if ranks & (ranks - 1) == 0:
        choices.append(("butterfly", ("", "exchange", "stream")))
    if ranks > 2:
        choices.append(({"random-regular": {"degree": 2}}, both))
        choices.append(({"networkx": {"generator": "cycle_graph", "n": ranks}}, (*both, "token")))
    return st.sampled_from(choices)


@st.composite
def exchanges(draw: st.DrawFn, ranks: int) -> dict[str, Any]:
    """Return an exchange among ranks."""
    topology, flows = draw(topologies(ranks))
    given: dict[str, Any] = {"topology": topology, "bytes": draw(sizes())}
    flow = draw(st.sampled_from(flows))
    if flow:
        given["flow"] = flow
    own = {"client-server": "request", "task-farm": "farm"}.get(str(topology), "")
    if (flow or own) == "farm":
        given["tasks"] = draw(st.integers(1, 9))
    if (flow or own) in ("farm", "request") and draw(st.booleans()):
        given["reply"] = draw(sizes())
    if draw(st.booleans()):
        given["compute"] = draw(computations())
    given |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "method": st.sampled_from(
                    [
                        "message",
                        "shared-memory",
                        "put",
                        "get",
                        {"posix-file": "f"},
                        {"mpi-file": "a b"},
                    ]
                ),
                "starter": st.sampled_from(["inside", "outside", {"outside": ["p - 1"]}]),
            },
        )
    )
    return {"exchange": given}


@st.composite
def apps(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Return one application of two to nine ranks."""
    ranks = draw(st.integers(2, 9))
    phase = st.one_of(
        st.fixed_dictionaries({"compute": computations()}), collectives(), exchanges(ranks)
    )
    return {
        "name": name,
        "ranks": ranks,
        "iterations": draw(st.sampled_from([1, "2 * n"])),
        "phases": draw(st.lists(phase, min_size=1, max_size=4)),
    } | draw(
        st.fixed_dictionaries(
            {}, optional={"background": st.booleans(), "parameters": st.just({"m": "n * p"})}
        )
    )


@st.composite
def descriptions(draw: st.DrawFn) -> dict[str, Any]:
    """Return a description of one to three applications."""
    names = ["a", "b-2", "c.3"][: draw(st.integers(1, 3))]
    return {
        "isochrone": "app/1",
        "parameters": {"n": draw(st.integers(1, 1000))},
        "apps": [draw(apps(name)) for name in names],
    } | draw(
        st.fixed_dictionaries(
            {},
            optional={
                "seed": st.integers(0, 2**63 - 1),
                "repeats": st.integers(1, 3),
                "runs": st.sampled_from(
                    [["alone"], ["all", "pairs"], [names], [[names[0]], "all"]]
                ),
                "place": st.sampled_from(["disjoint", "shared-nodes", "shared-cores"]),
            },
        )
    )
