"""Nodes and ranks on each are variables where they say what the number of ranks does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.models.data.load import joined
from isochrone.models.data.placement import informative, unfilled
from isochrone.models.prediction.questions import check_constants, completed
from made_up.sweeps import collective, point_to_point


def columns(**named: list[float]) -> dict[str, np.ndarray]:
    return {name: np.array(values, dtype=float) for name, values in named.items()}


def test_a_run_tells_its_nodes_and_the_ranks_on_each() -> None:
    """Of 8 ranks, 4 on a node; 6 fill one node and a half; of 3, all are on one."""
    for ranks, nodes in ((8, 2), (6, 2), (3, 1)):
        data = models.of_run(collective(("bcast",), ranks, repeats=1))
        assert set(data.variables["nodes"]) == {nodes}
        assert set(data.variables["ppn"]) == {min(ranks, 4)}


def test_where_several_nodes_hold_fewer_no_average_is_made_up() -> None:
    """The last node may hold fewer, and is the one that is filled last."""
    for hosts, known in (("aaabbbc", True), ("aabcc", True), ("aabc", False), ("aaabbcc", False)):
        run = collective(("bcast",), len(hosts), repeats=1)
        run.ranks = [type(rank)(rank.rank, hosts[rank.rank], 0) for rank in run.ranks]
        data = models.of_run(run)
        assert set(data.variables["nodes"]) == {len(set(hosts))}
        assert ("ppn" in data.variables) == known


@pytest.mark.parametrize(
    ("given", "left", "constant"),
    [
        (columns(p=[2, 4, 8], nodes=[2, 4, 8], ppn=[1, 1, 1]), {"p"}, {"ppn": 1}),
        (columns(p=[2, 4, 8], nodes=[1, 1, 1], ppn=[2, 4, 8]), {"p"}, {"nodes": 1}),
        (columns(p=[12, 16, 64], nodes=[2, 2, 8], ppn=[8, 8, 8]), {"p"}, {"ppn": 8}),
        (columns(p=[2, 4, 8], nodes=[2, 4, 8]), {"p"}, {}),
        (columns(p=[4, 5, 8], nodes=[2, 2, 4]), {"p", "nodes"}, {}),
        (columns(p=[4, 16, 32], nodes=[1, 2, 4], ppn=[4, 8, 8]), {"p", "nodes", "ppn"}, {}),
        (columns(nodes=[1, 2, 4], ppn=[4, 8, 8]), {"p", "nodes", "ppn"}, {}),
    ],
)
def test_what_the_number_of_ranks_says_as_well_is_left_out(
    given: dict[str, np.ndarray], left: set[str], constant: dict[str, float]
) -> None:
    """A constant is kept in mind: the model must not be asked for another value of it."""
    variables, found = informative(given)
    assert set(variables) == left
    assert found == constant
    if "p" not in given:
        assert variables["p"].tolist() == (given["nodes"] * given["ppn"]).tolist()


def test_ranks_that_cannot_be_so_on_the_nodes_are_seen() -> None:
    assert not unfilled(columns(p=[12, 16], nodes=[2, 2], ppn=[8, 8])).any()
    assert unfilled(columns(p=[12], nodes=[1], ppn=[8])).any()
    assert unfilled(columns(p=[8], nodes=[2], ppn=[8])).any()


def test_a_table_that_contradicts_itself_is_fitted_without_ppn(
    tmp_path: Path, golden: Golden
) -> None:
    path = tmp_path / "times.csv"
    rows = "".join(
        f"{p},{p * b},{nodes},8,{p * b}e-9\n"
        for p, nodes in ((2, 1), (9, 1), (16, 2))
        for b in (8, 64, 512, 4096)
    )
    path.write_text("p,b,nodes,ppn,seconds\n" + rows)
    model = models.fit(path)
    golden(model.warnings)


def hierarchical(p: float, b: float, nodes: float, ppn: float) -> float:
    """2 µs for a step within a node, 9 µs for one between nodes."""
    inside, between = np.ceil(np.log2(ppn)), np.ceil(np.log2(nodes))
    return float(1e-6 + (2e-6 + 1e-10 * b) * inside + (9e-6 + 4e-10 * b) * between)


def table(folder: Path, places: list[tuple[int, int]], name: str = "times.csv") -> Path:
    path = folder / name
    rows = [
        f"bcast,{n * q},{b},{n},{q},{hierarchical(n * q, b, n, q)!r}"
        for n, q in places
        for b in (8, 64, 1024, 8192, 65536, 524288)
    ]
    path.write_text("op,p,b,nodes,ppn,seconds\n" + "\n".join(rows) + "\n")
    return path


def test_one_formula_holds_inside_and_between_nodes(tmp_path: Path) -> None:
    """Fitted up to 4 nodes of 8, it is right on 16; the number of ranks alone cannot be."""
    places = [(1, 2), (1, 3), (1, 4), (1, 6), (1, 8), (2, 8), (3, 8), (4, 8), (4, 2), (3, 4)]
    model = models.fit(table(tmp_path, places))
    assert {"nodes", "ppn"} <= set(model.variables)
    asked = {"p": [128, 64], "nodes": [16, 16], "ppn": [8, 4], "b": [65536, 65536]}
    found = model.predict(asked)
    truth = [hierarchical(128, 65536, 16, 8), hierarchical(64, 65536, 16, 4)]
    assert found.seconds == pytest.approx(truth, rel=1e-6)


def test_a_model_of_one_number_of_ranks_on_each_node_says_so(
    tmp_path: Path, golden: Golden
) -> None:
    """Also after it was written and read: the constant is no loss when it is left out."""
    places = [(1, 8), (2, 8), (3, 8), (4, 8), (8, 8)]
    model = models.fit(table(tmp_path, places))
    assert model.variables == ["b", "p"]
    models.write(model, tmp_path / "model.json")
    again = models.read(tmp_path / "model.json")
    assert again.constant == {"ppn": 8}
    assert again.predict({"p": 128, "ppn": 8, "b": 8}).seconds > 0
    with golden.refusal():
        again.predict({"p": 128, "ppn": 4, "b": 8})


def test_a_family_over_nodes_says_what_is_always_the_same(tmp_path: Path, golden: Golden) -> None:
    path = table(tmp_path, [(1, 2), (1, 4), (1, 8), (1, 16)])
    with golden.refusal():
        models.fit(path, "hierarchical-tree")


def test_runs_on_several_numbers_of_nodes_are_fitted_together(golden: Golden) -> None:
    runs = [collective(("bcast",), p, repeats=2) for p in (2, 4, 8, 12)]
    data = joined([models.of_run(run) for run in runs])
    (points,) = data.observations()
    assert set(points.variables) == {"b", "p", "nodes", "ppn"}
    runs[0].ranks = []
    data = joined([models.of_run(run) for run in runs])
    (points,) = data.observations()
    assert set(points.variables) == {"b", "p"}
    golden(data.remarks)


@pytest.mark.parametrize(
    ("asked", "constant", "found"),
    [
        ({"nodes": 4, "ppn": 8}, {}, (32, 4, 8)),
        ({"p": 32, "ppn": 8}, {}, (32, 4, 8)),
        ({"p": 12, "ppn": 8}, {}, (12, 2, 8)),
        ({"p": 32, "nodes": 4}, {}, (32, 4, 8)),
        ({"p": 32, "nodes": 4, "ppn": 8}, {}, (32, 4, 8)),
        ({"nodes": 4}, {"ppn": 8.0}, (32, 4, 8)),
        ({"p": 32}, {"ppn": 8.0}, (32, None, None)),
    ],
)
def test_two_of_three_say_the_third(
    asked: dict[str, int], constant: dict[str, float], found: tuple[int | None, ...]
) -> None:
    answer = completed(asked, constant)
    assert tuple(answer.get(name) for name in ("p", "nodes", "ppn")) == found


def test_ranks_fill_nodes_as_the_data_did(tmp_path: Path, golden: Golden) -> None:
    """Then the number of ranks alone is a question that can be answered; else it is not."""
    places = [(1, 2), (1, 3), (1, 4), (1, 6), (1, 8), (2, 8), (3, 8), (4, 8)]
    model = models.fit(table(tmp_path, places), "hierarchical-tree")
    assert model.full_node == 8
    found = model.predict({"p": [6, 128], "b": [8, 65536]})
    truth = [hierarchical(6, 8, 1, 6), hierarchical(128, 65536, 16, 8)]
    assert found.seconds == pytest.approx(truth, rel=1e-6)
    model = models.fit(table(tmp_path, [*places, (4, 2)]), "hierarchical-tree")
    assert model.full_node == 0
    with golden.refusal():
        model.predict({"p": 128, "b": 8})


@pytest.mark.parametrize(
    "asked", [{"p": 32, "nodes": 4, "ppn": 4}, {"p": 12, "nodes": 8}, {"p": 8, "nodes": 9}]
)
def test_what_contradicts_itself_is_refused(asked: dict[str, int], golden: Golden) -> None:
    with golden.refusal():
        completed(asked, {})


def test_the_constant_may_be_asked_for() -> None:
    check_constants({"ppn": 8.0}, {"p": [16, 32], "ppn": [8, 8]})
    check_constants({"ppn": 8.0}, {"p": [16, 32]})


def test_a_model_of_messages_says_on_how_many_nodes_its_pair_was() -> None:
    """A prediction of an application needs to know it; two kinds of pairs are one formula."""
    near, far = (point_to_point(pairs=((0, j),)) for j in (1, 2))
    assert [models.fit(run, "hockney").constant["nodes"] for run in (near, far)] == [1.0, 2.0]
    assert "nodes" not in models.fit([near, far], "hockney").constant
