"""Orders compared as a user does it: expected, drawn, kept; and bad input."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from made_up.jobs import TABLE_II, TACHYON

Isochrone = Callable[..., subprocess.CompletedProcess[str]]
UNEVEN = ("--nodes", "4,4,2,2,1,1,1,1", "--tiles", "4x4", "--model", TACHYON)


def test_orders_are_expected_kept_and_drawn_without_launching(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    """The first is what `place nodes` finds, and nothing is worse than the worst found."""
    files = ("-o", tmp_path / "orders.json", "--figure", tmp_path / "orders.svg")
    answer = isochrone("place", "orders", *UNEVEN, "--max-orders", "8", *files)
    assert answer.returncode == 0, answer.stderr
    assert "8 orders: 30.6 ms to 52.1 ms" in answer.stdout
    assert "nothing was" in answer.stdout
    found = json.loads((tmp_path / "orders.json").read_text())
    assert (found["record"], found["format"], found["launches"]) == ("orders", 1, 0)
    predicted = [one["predicted"] for one in found["orders"]]
    assert predicted == sorted(predicted)
    assert len({tuple(one["nodes"]) for one in found["orders"]}) == len(predicted) == 8
    best = isochrone("place", "nodes", *UNEVEN, "--dry-run", "--json")
    assert found["orders"][0]["order"] == json.loads(best.stdout)["order"]
    assert "best found" in found["orders"][0]["names"]
    assert {"measured", "measured_low", "measured_high", "deviation"} <= set(found["orders"][0])
    for key in ("mean_deviation", "worst_deviation", "rank_correlation", "regret", "gain_reached"):
        assert found[key] is None
    again = isochrone("plot", tmp_path / "orders.json", "-o", tmp_path / "again.svg")
    assert again.returncode == 0, again.stderr
    drawn = (tmp_path / "orders.svg").read_text("utf-8")
    assert (tmp_path / "again.svg").read_text("utf-8") == drawn
    assert "4,4,2,2,1,1,1,1" in drawn
    assert "best found" in drawn


def test_the_orders_of_the_paper_are_listed_by_name(isochrone: Isochrone) -> None:
    """Figure 6 has the four node sets of table II."""
    listed = [f"{name}={','.join(map(str, order))}" for name, order in TABLE_II.items()]
    words = (*UNEVEN, "--select", "order=intra-first", "--orders", *listed, "--json")
    answer = isochrone("place", "orders", *words)
    assert answer.returncode == 0, answer.stderr
    found = {one["names"][0]: one["predicted"] for one in json.loads(answer.stdout)["orders"]}
    assert set(found) == set(TABLE_II)
    assert found["T16-01"] == found["T16-03"] == pytest.approx(0.052138, abs=5e-7)
    assert min(found, key=lambda name: found[name]) == "T16-04"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--orders", "4,4"), "is not an order of the nodes with"),
        (("--orders", "n0,n0"), "does not name each"),
        (("--driver", "ompio"), "OMPIO"),
        (("--max-orders", "0"), "not a number of at least 1"),
        (("--max-orders", "1000"), "the limit is 200 orders"),
        (("--figure", "a.gif"), "there is no figure format '.gif'"),
    ],
)
def test_bad_input_is_one_line(
    isochrone: Isochrone, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    answer = isochrone("place", "orders", *UNEVEN, *words, cwd=tmp_path)
    assert answer.returncode == 2
    assert said in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
