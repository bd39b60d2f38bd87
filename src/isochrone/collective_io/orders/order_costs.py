"""What the elements of an order cost: nodes that move ranks, or hosts in a list of aggregators.

An order arranges labels. Each has a width: the ranks of a node, or the aggregators of a host. The
cost of an element depends on its label, its position and the widths before it, in each kind of
round. The cost of an order is the weighted sum of the hot spots of all kinds. All searches rest on
this. With a model that has ``busy``, times depend on the other elements, too: then the costs of
elements are lower bounds.
"""

from abc import ABC, abstractmethod
from math import perm, prod

import numpy as np

from isochrone.collective_io.workload import Floats, Ints


class OrderCosts(ABC):
    """Costs of the orders of some labels.

    Attributes
    ----------
    weights
        Fraction of the rounds that is of each kind.
    labels, counts, width
        Different labels, ascending; how often each occurs; and their widths.
    places
        Positions, from the first on, at which it matters which label is there.
    separable
        Whether the costs of elements are exact, not bounds.
    """

    weights: Floats
    labels: Ints
    counts: Ints
    width: Ints
    places: int
    separable: bool

    @property
    @abstractmethod
    def most_orders(self) -> int:
        """Number of orders that are enumerated at most."""

    @abstractmethod
    def costs(self, position: Ints, before: Ints, label: Ints) -> Floats:
        """Return the seconds of elements in each kind of round; shape (kinds, …)."""

    @abstractmethod
    def total(self, orders: Ints) -> Floats:
        """Return the seconds of a round in whole orders; shape (…, elements)."""

    @abstractmethod
    def bound(self) -> float:
        """Return a lower bound of the cost of all orders."""

    def widths(self, labels: Ints) -> Ints:
        """Return the width of each label."""
        return self.width[np.searchsorted(self.labels, labels)]

    def each(self, orders: Ints) -> Floats:
        """Return the costs of the elements of orders; shape (kinds, …, elements)."""
        widths = self.widths(orders)
        position = np.broadcast_to(np.arange(orders.shape[-1]), orders.shape)
        return self.costs(position, np.cumsum(widths, axis=-1) - widths, orders)

    def least(self, orders: Ints) -> Floats:
        """Return the seconds below which orders are not, by what their elements are at least."""
        return np.asarray(np.tensordot(self.weights, self.each(orders).max(axis=-1), 1))

    def expressible(self, order: Ints) -> tuple[Ints, int]:
        """Return the order that can be made of this, and how many of its first may be swapped."""
        return order, len(order)

    def by_limits(self, cost: float, seconds: float) -> tuple[Ints | None, float]:
        """Return an order cheaper than ``cost`` or None, and a lower bound, by other means."""
        return None, 0.0

    @property
    def length(self) -> int:
        """Number of elements."""
        return int(self.counts.sum())

    @property
    def orders(self) -> int:
        """Number of orders that differ; of too many, some number above `most_orders`."""
        if self.places < self.length and (self.counts == 1).all():
            return perm(self.length, self.places) if self.places < 12 else self.most_orders + 1
        return how_many(self.counts)

    @property
    def states(self) -> int:
        """Number of multisets of labels, from none to all."""
        return prod((self.counts + 1).tolist())


def how_many(counts: Ints) -> int:
    """Return the number of permutations of the multiset with these ``counts``."""
    number, before = 1, 0
    for count in counts.tolist():
        number *= perm(before + count, count) // perm(count, count)
        before += count
    return number


def arrangements(labels: Ints, counts: Ints, places: int | None = None) -> Ints:
    """Return all permutations of the multiset with these ``counts``, one a row.

    ``places``: only of the first of each row; the others follow in the order of the labels.
    """
    left = counts[None, :]
    length = int(counts.sum())
    orders = np.empty((1, 0), labels.dtype)
    for _ in range(length if places is None else places):
        which, label = np.nonzero(left)
        orders = np.column_stack([orders[which], labels[label]])
        left = left[which]
        left[np.arange(len(left)), label] -= 1
    if orders.shape[1] == length:
        return orders
    others = np.repeat(np.tile(labels, len(left)), left.ravel()).reshape(len(left), -1)
    return np.column_stack([orders, others])
