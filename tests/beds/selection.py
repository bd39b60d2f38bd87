"""Which tests `make test` runs, and which only `make test-all` (``--full``).

- ``full``: only `make test-all`.
- ``few``: so many cases of a test that each value of each parameter is there; ``few(3)``: three
  of them, from the first to the last.
- Of tests on every MPI those on the first one; on the others those that are marked ``smoke``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import pytest


def quick(items: Iterable[pytest.Item], first_mpi: str) -> Iterator[pytest.Item]:
    """Yield the tests that run without ``--full``."""
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("full") is None and _is_on(item, first_mpi):
            functions[item.nodeid.partition("[")[0]].append(item)
    for cases in functions.values():
        few = cases[0].get_closest_marker("few")
        yield from (_chosen(cases, *few.args) if few else cases)


def _is_on(item: pytest.Item, first_mpi: str) -> bool:
    call = getattr(item, "callspec", None)
    mpi = first_mpi if call is None else call.params.get("every_mpi", first_mpi)
    return mpi == first_mpi or item.get_closest_marker("smoke") is not None


def _chosen(cases: Sequence[pytest.Item], count: int = 0) -> list[pytest.Item]:
    """Return so many cases, evenly; without a number, those that bring a new value."""
    if count:
        steps = max(1, min(count, len(cases)) - 1)
        return [cases[k * (len(cases) - 1) // steps] for k in range(min(count, len(cases)))]
    chosen, seen = [], set()
    for case in cases:
        values = {(name, repr(value)) for name, value in case.callspec.params.items()}
        if values - seen:
            chosen.append(case)
            seen |= values
    return chosen
