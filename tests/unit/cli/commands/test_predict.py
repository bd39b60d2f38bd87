"""`isochrone predict`: every question is answered, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beds.command_line import Answer, Command
from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.models import Model, Segment
from made_up.sweeps import bisection, collective, point_to_point

CLIC = ROOT / "examples/models/clic.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of messages, of a broadcast on 2 to 16 ranks, and of one on 4 ranks only."""
    folder = tmp_path_factory.mktemp("models")
    models.write(models.fit(point_to_point()), folder / "pair.json")
    models.write(models.fit([bisection(p) for p in (4, 8)], "hockney"), folder / "cut.json")
    models.write(models.fit(collective(("bcast",), 4)), folder / "four.json")
    runs = [collective(("bcast",), p) for p in (2, 4, 8, 16)]
    models.write(models.fit(runs), folder / "bcast.json")
    barrier = Segment("tree", ["1", "ceil(log2(p))"], [-1e-6, 1e-6], where={"op": "barrier"})
    models.write(Model([barrier]), folder / "barrier.json")
    return folder


def refused(answer: Answer, *says: str) -> None:
    """One line on standard error, nothing else, and exit code 2."""
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    for words in says:
        assert words in answer.stderr


def test_a_ping_pong_says_nothing_of_a_collective(isochrone: Command, folder: Path) -> None:
    asked = ("--model", folder / "pair.json", "--bytes", "1MiB")
    says = (
        "the model is not of a collective, but of messages",
        "(point-to-point)",
        "predict message",
    )
    refused(isochrone("predict", "collective", *asked, "--ranks", 4096), *says)
    refused(isochrone("predict", "collective", *asked), *says)


def test_a_collective_says_nothing_of_a_message(isochrone: Command, folder: Path) -> None:
    for model in (folder / "bcast.json", folder / "four.json", CLIC):
        answer = isochrone("predict", "message", "--model", model, "--bytes", "1KiB")
        refused(answer, "the model is not of messages", "predict collective")


def test_ranks_are_refused_by_a_model_without_them(isochrone: Command, folder: Path) -> None:
    """It would give 4 and 4,096 ranks the same time; on the ranks measured it is right."""
    asked = ("predict", "collective", "--model", folder / "four.json", "--bytes", "8", "--json")
    refused(
        isochrone(*asked, "--ranks", "4,4096"),
        "has no p",
        "p = 4 only",
        "measure several",
    )
    (given,) = json.loads(isochrone(*asked, "--ranks", 4).stdout)["predictions"]
    (left_open,) = json.loads(isochrone(*asked).stdout)["predictions"]
    assert given == left_open
    assert given["ranks"] == 4


def test_a_family_named_against_the_data_is_not_asked_for_ranks(
    isochrone: Command, folder: Path, tmp_path: Path
) -> None:
    runs = [collective(("bcast",), p) for p in (4, 16)]
    models.write(models.fit(runs, "hockney"), tmp_path / "m.json")
    asked = ("--model", tmp_path / "m.json", "--bytes", 8, "--ranks", 8)
    refused(isochrone("predict", "collective", *asked), "has no p", "fit another family")


def test_messages_are_predicted(isochrone: Command, folder: Path) -> None:
    asked = ("--model", folder / "pair.json", "--bytes", "0,64KiB")
    answer = isochrone("predict", "message", *asked)
    assert answer.returncode == 0, answer.stderr
    assert "blocking  window    1         0 B" in answer.stdout
    found = json.loads(isochrone("predict", "message", *asked, "--json").stdout)
    model = models.read(folder / "pair.json")
    expected = model.predict({"b": [0, 65536]}).seconds.tolist()
    assert [row["seconds"] for row in found["predictions"]] == expected
    assert list(found["predictions"][0]) == [
        "mode",
        "ranks",
        "window",
        "bytes",
        "seconds",
        "low",
        "high",
    ]


def test_windows_and_modes_that_were_not_measured_are_refused(
    isochrone: Command, folder: Path
) -> None:
    asked = ("predict", "message", "--model", folder / "pair.json", "--bytes", 8)
    refused(
        isochrone(*asked, "--window", "1,64"),
        "has no w",
        "w = 1 only",
        "several windows",
    )
    refused(isochrone(*asked, "--ranks", 8), "has no p")
    refused(isochrone(*asked, "--mode", "nonblocking"), "not cover mode 'nonblocking'")
    refused(isochrone(*asked[:-2]), "needs a message size", "--bytes")


def test_a_window_is_a_question_where_several_were_measured(
    isochrone: Command, tmp_path: Path
) -> None:
    segment = Segment("loggp", ["1", "1/w", "b"], [1e-6, 1e-6, 1e-9], where={"mode": "blocking"})
    models.write(Model([segment]), tmp_path / "m.json")
    asked = ("predict", "message", "--model", tmp_path / "m.json", "--bytes", 1000)
    refused(isochrone(*asked), "needs a messages in a window", "--window")
    refused(isochrone(*asked, "--window", 0), "--window")
    found = json.loads(isochrone(*asked, "--window", "1,4", "--json").stdout)["predictions"]
    assert [row["seconds"] for row in found] == pytest.approx([3e-6, 2.25e-6])


def test_a_bisection_is_of_messages(isochrone: Command, folder: Path) -> None:
    asked = ("--model", folder / "cut.json", "--bytes", 8)
    assert isochrone("predict", "message", *asked).returncode == 0
    refused(
        isochrone("predict", "collective", *asked),
        "the model is not of a collective, but of",
        "bisection",
    )


def test_a_single_rank_is_no_collective(isochrone: Command, folder: Path) -> None:
    """Among others it is left out with a warning; alone there is nothing to answer."""
    asked = ("predict", "collective", "--model", folder / "bcast.json", "--bytes", 8)
    refused(isochrone(*asked, "--ranks", 1), "no prediction", "a single rank")
    answer = isochrone(*asked, "--ranks", "1,2", "--json")
    assert answer.returncode == 0
    found = json.loads(answer.stdout)
    assert [row["ranks"] for row in found["predictions"]] == [2]
    assert "a single rank" in found["warnings"][0]
    assert "Warning: p = 1 " in isochrone(*asked, "--ranks", "1,2").stderr


def test_a_time_of_zero_or_less_is_not_printed(
    isochrone: Command, folder: Path, golden: Golden
) -> None:
    asked = ("predict", "collective", "--model", folder / "barrier.json")
    refused(isochrone(*asked, "--ranks", 2), "the formula gives no valid time at p = 2")
    answer = isochrone(*asked, "--ranks", "2,4")
    assert answer.stdout.splitlines()[1].split()[:4] == ["barrier", "4", "ranks", "1.00"]
    golden(answer.stderr)


def test_a_barrier_needs_no_bytes(isochrone: Command, folder: Path) -> None:
    asked = ("predict", "collective", "--model", folder / "barrier.json", "--ranks", 8)
    (row,) = json.loads(isochrone(*asked, "--json").stdout)["predictions"]
    assert (row["ranks"], row["bytes"]) == (8, None)
    assert row["seconds"] == pytest.approx(2e-6)
    refused(isochrone(*asked, "--bytes", 8), "has no b")


def test_published_models_answer_as_before(isochrone: Command) -> None:
    asked = ("--model", CLIC, "--op", "gather", "--ranks", 32, "--bytes", "100KiB", "--json")
    (row,) = json.loads(isochrone("predict", "collective", *asked).stdout)["predictions"]
    assert row["seconds"] == pytest.approx(9000e-6 + (-0.0825 + 0.0929 * 32) * 0.1024)
    assert (row["op"], row["ranks"], row["bytes"]) == ("gather", 32, 102400)


def test_numbers_beyond_any_machine_are_refused(isochrone: Command, folder: Path) -> None:
    asked = ("predict", "collective", "--model", folder / "bcast.json")
    refused(
        isochrone(*asked, "--ranks", 4, "--bytes", "1e400"), "'1e400' is larger than the largest"
    )
    refused(
        isochrone(*asked, "--ranks", "1e30", "--bytes", 8),
        "--ranks: '1e30' is not a number of ranks",
    )


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model over nodes, one of 4 ranks on each node, and one that knows nothing of nodes."""
    folder = tmp_path_factory.mktemp("places")
    terms = ["1", "ceil(log2(ppn))", "ceil(log2(nodes))"]
    where = {"op": "barrier"}
    two = Segment("hierarchical-tree", terms, [1e-6, 2e-6, 9e-6], where=where)
    models.write(Model([two]), folder / "nodes.json")
    models.write(Model([two], full_node=8), folder / "filled.json")
    one = Segment("tree", ["1", "ceil(log2(p))"], [1e-6, 2e-6], where=where)
    models.write(Model([one], constant={"ppn": 4}), folder / "four.json")
    models.write(Model([one]), folder / "ranks.json")
    return folder


@pytest.mark.parametrize(
    "asked",
    [
        ("--nodes", 16, "--ppn", 8),
        ("--ranks", 128, "--ppn", 8),
        ("--ranks", 128, "--nodes", 16),
        ("--ranks", 128, "--nodes", 16, "--ppn", 8),
    ],
)
def test_two_of_ranks_nodes_and_ranks_on_each_say_the_third(
    isochrone: Command, places: Path, asked: tuple[str | int, ...]
) -> None:
    model = ("predict", "collective", "--model", places / "nodes.json")
    (row,) = json.loads(isochrone(*model, *asked, "--json").stdout)["predictions"]
    assert (row["ranks"], row["nodes"], row["ppn"]) == (128, 16, 8)
    assert row["seconds"] == pytest.approx(1e-6 + 3 * 2e-6 + 4 * 9e-6)
    assert "16 nodes x 8" in isochrone(*model, *asked).stdout


def test_nodes_are_asked_for_where_ranks_do_not_say_them(isochrone: Command, places: Path) -> None:
    asked = ("--ranks", 128)
    model = ("predict", "collective", "--model")
    refused(isochrone(*model, places / "nodes.json", *asked), "needs a number of nodes", "--nodes")
    (row,) = json.loads(isochrone(*model, places / "filled.json", *asked, "--json").stdout)[
        "predictions"
    ]
    assert (row["nodes"], row["ppn"]) == (16, 8)


def test_ranks_that_do_not_fill_the_nodes_are_refused(isochrone: Command, places: Path) -> None:
    asked = ("--ranks", 128, "--nodes", 16, "--ppn", 4)
    answer = isochrone("predict", "collective", "--model", places / "nodes.json", *asked)
    refused(answer, "128 ranks do not fill 16 nodes with 4 on each")


def test_a_model_of_four_ranks_on_each_node_says_so(isochrone: Command, places: Path) -> None:
    model = ("predict", "collective", "--model", places / "four.json")
    refused(
        isochrone(*model, "--nodes", 4, "--ppn", 8),
        "the model was fitted at ppn = 4 only, and cannot predict ppn =",
    )
    for asked in (("--nodes", 4), ("--nodes", 4, "--ppn", 4), ("--ranks", 16)):
        (row,) = json.loads(isochrone(*model, *asked, "--json").stdout)["predictions"]
        assert row["ranks"] == 16
        assert row["seconds"] == pytest.approx(9e-6)


def test_a_model_that_knows_no_nodes_is_not_asked_for_them(
    isochrone: Command, places: Path
) -> None:
    answer = isochrone(
        "predict", "collective", "--model", places / "ranks.json", "--nodes", 4, "--ppn", 4
    )
    refused(answer, "the model does not record how many nodes its ranks used", "--ranks")


def test_of_several_formulas_the_one_that_was_used_is_named(
    isochrone: Command, tmp_path: Path
) -> None:
    few = Segment("ring", ["1", "p"], [1e-6, 1e-6], range={"b": (None, 1024)})
    many = Segment("ring", ["1", "b"], [1e-6, 1e-9], range={"b": (1024, None)})
    models.write(Model([few, many]), tmp_path / "two.json")
    asked = ("predict", "collective", "--model", tmp_path / "two.json", "--ranks", 4)
    one = isochrone(*asked, "--bytes", 64)
    assert one.stdout.count("formula for") == 1
    both = isochrone(*asked, "--bytes", "64,1MiB").stdout.splitlines()
    assert ["formula for" in line for line in both] == [False] * (len(both) - 2) + [True] * 2


def test_a_time_has_the_digits_that_its_interval_supports(isochrone: Command, folder: Path) -> None:
    asked = ("predict", "collective", "--model", folder / "bcast.json", "--bytes", "1KiB")
    allowed = []
    for ranks in (16, 64, 4096, 262144):
        (row,) = json.loads(isochrone(*asked, "--ranks", ranks, "--json").stdout)["predictions"]
        line = isochrone(*asked, "--ranks", ranks).stdout.splitlines()[1]
        allowed.append(2 if row["high"] > 2 * row["low"] else 3)
        digits = line.split("KiB")[1].split()[0].replace(".", "")
        assert set(digits[allowed[-1] :]) <= {"0"}
    assert set(allowed) == {2, 3}
