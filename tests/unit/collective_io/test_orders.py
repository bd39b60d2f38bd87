"""Figure 6: a row for each order, expected beside measured, the best expected on top."""

from __future__ import annotations

import pytest

from isochrone.collective_io.figures.orders import draw
from isochrone.collective_io.orders.compared_orders import ComparedOrder, ComparedOrders
from isochrone.views import Options


def orders(number: int, launches: int) -> ComparedOrders:
    some = [
        ComparedOrder(
            ["given" if k == 1 else f"random {k}"],
            range(8),
            [f"n{j}" for j in range(8)],
            [4, 4, 2, 2, 1, 1, 1, 1],
            0.1 + 0.05 * k,
            0.09 + 0.05 * k,
            0.11 + 0.05 * k,
            [0.12 + 0.05 * k + 0.01 * j for j in range(launches)],
        )
        for k in range(number)
    ]
    return ComparedOrders(some)


@pytest.mark.parametrize(("launches", "sides"), [(0, ["expected"]), (3, ["expected", "measured"])])
def test_each_order_is_a_row_with_what_is_known_of_it(launches: int, sides: list[str]) -> None:
    figure = draw([orders(5, launches)], Options())
    (axes,) = figure.axes
    bars = [box for box in axes.containers if hasattr(box, "patches")]
    assert [box.get_label() for box in bars] == sides
    widths = [patch.get_width() for patch in bars[0].patches]
    assert widths == pytest.approx([100, 150, 200, 250, 300])
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels[:2] == ["4,4,2,2,1,1,1,1", "given  4,4,2,2,1,1,1,1"]
    bottom, top = axes.get_ylim()
    assert bottom > top, "the first is not on top"


def test_many_orders_fit_on_a_page() -> None:
    assert draw([orders(200, 2)], Options()).get_figheight() < 15
