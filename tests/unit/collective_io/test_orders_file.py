"""The document of compared orders: what is written is read again; bad ones are one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.collective_io.orders import compared_orders as orders_file
from isochrone.collective_io.orders.compared_orders import ComparedOrder, ComparedOrders


def some() -> ComparedOrders:
    nan = float("nan")
    return ComparedOrders(
        [
            ComparedOrder(["best found"], [1, 0], ["b", "a"], [1, 2], 0.1, nan, nan, [0.12, 0.13]),
            ComparedOrder(
                ["given", "worst found"], [0, 1], ["a", "b"], [2, 1], 0.2, 0.1, 0.3, [0.2, 0.25]
            ),
        ],
        "nodes",
        "read",
        "exchange",
        "call",
        "simulated",
        warnings=["doubtful"],
    )


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "orders.json"
    orders_file.write(path, {**plain(some().document([])), "words": ["a sentence"]})
    assert orders_file.looks_like_one(path)
    assert plain(orders_file.read(path).document([])) == plain(some().document([]))


def written() -> dict[str, Any]:
    document: dict[str, Any] = plain(some().document([]))
    return document


def changed(**more: Any) -> dict[str, Any]:
    return written() | more


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (changed(record="model"), "no orders"),
        (changed(format=2), "format 2 is newer than 1"),
        (changed(format=None), "the document of orders has no valid 'format' number"),
        (changed(orders=[]), "no orders"),
        (changed(orders=[{"order": [0]}]), "damaged"),
        (changed(orders=[{**written()["orders"][0], "predicted": 0}]), "not positive"),
        (changed(orders=[{**written()["orders"][0], "nodes": [1]}]), "different numbers"),
        (
            changed(orders=[*written()["orders"][:1], {**written()["orders"][1], "times": [1.0]}]),
            "number of launches",
        ),
        ([1], "damaged"),
    ],
)
def test_a_bad_document_is_one_line(tmp_path: Path, document: Any, said: str) -> None:
    path = tmp_path / "orders.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=said) as error:
        orders_file.read(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_no_document(tmp_path: Path, golden: Golden) -> None:
    assert not orders_file.looks_like_one(tmp_path / "none")
    with golden.refusal():
        orders_file.read(tmp_path / "none")
