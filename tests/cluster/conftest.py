"""Fixtures for tests on a cluster of several hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from beds.mpis import missing
from cluster import lifetime
from cluster.plan import Plan
from cluster.running import Cluster


@pytest.fixture(scope="session")
def namespaces() -> None:
    """Skip what needs a cluster where there can be none."""
    if why := lifetime.obstacle():
        missing("cluster", why)


@pytest.fixture
def cluster(namespaces: None) -> Iterator[Callable[..., Cluster]]:
    """Make clusters that end with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(lifetime.cluster(Plan(*args, **kwargs)))


@pytest.fixture(scope="module")
def cluster_of_module(namespaces: None) -> Iterator[Callable[..., Cluster]]:
    """Make clusters that end with the last test of a file."""
    with contextlib.ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(lifetime.cluster(Plan(*args, **kwargs)))
