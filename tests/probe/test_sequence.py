"""Folding while calls come: nothing is lost but the times of single calls, in bounded memory."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beds.mpis import PATIENCE, ROOT

SOURCES = ("recorder/sequence.c", "recorder/gap.c", "recorder/event.c")
LIMIT = 16384

Kept = tuple[int, int, int]
"""A call: peer, bytes, and microseconds of computation before it."""


@dataclass
class Place:
    """A call or a loop, as it was kept."""

    count: int = 1
    body: list[Place] = field(default_factory=list)
    peer: int = -1
    bytes: int = 0
    calls: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("sequence") / "sequence"
    files = [ROOT / "tests/probe/sequence.c", *(ROOT / "probe" / name for name in SOURCES)]
    argv = ["cc", "-std=c11", "-O1", "-g", "-fsanitize=address,undefined", f"-I{ROOT}/probe"]
    subprocess.run([*argv, *files, "-o", built, "-lm"], check=True, timeout=PATIENCE)
    return built


def fold(program: Path, calls: Sequence[Kept], limit: int = LIMIT) -> tuple[int, list[Place]]:
    """Return the detail that was kept, and the places."""
    answer = subprocess.run(
        [program, str(limit)],
        input="".join(f"{a} {b} {c}\n" for a, b, c in calls),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    first, *lines = answer.stdout.splitlines()
    around: list[list[Place]] = [[]]
    for line in lines:
        depth, kind, *numbers = line.split()
        values = [int(number) for number in numbers]
        del around[int(depth) + 1 :]
        if kind == "loop":
            place = Place(values[0])
            around.append(place.body)
        else:
            gaps = list(zip(values[3::2], values[4::2], strict=True))
            place = Place(1, [], *values[:3], gaps)
        around[int(depth)].append(place)
    return int(first.split()[1]), around[0]


def expanded(places: Sequence[Place]) -> list[tuple[int, int]]:
    """Return peers and bytes one by one."""
    found = []
    for place in places:
        each = expanded(place.body) if place.body else [(place.peer, place.bytes // place.calls)]
        found += each * place.count
    return found


def leaves(places: Sequence[Place]) -> list[Place]:
    return [leaf for p in places for leaf in (leaves(p.body) if p.body else [p])]


calls = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 9)), max_size=40)
nested = st.recursive(
    st.lists(st.tuples(st.integers(0, 3), st.just(8), st.integers(0, 9)), min_size=1, max_size=3),
    lambda inner: st.builds(
        lambda parts, times: [call for part in parts for call in part] * times,
        st.lists(inner, min_size=1, max_size=3),
        st.integers(1, 4),
    ),
    max_leaves=8,
)


@given(st.one_of(calls, nested))
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_was_folded_is_what_came(program: Path, calls: list[Kept]) -> None:
    """Expanded, it is the calls in their order; and all gaps are in it, each once."""
    detail, places = fold(program, calls)
    assert detail == 0
    assert expanded(places) == [(peer, size) for peer, size, _ in calls]
    gaps = [gap for leaf in leaves(places) for gap in leaf.gaps]
    assert sum(count for count, _ in gaps) == len(calls)
    assert sum(total for _, total in gaps) == sum(gap for _, _, gap in calls)


def test_nested_loops_are_found_whatever_they_hold(program: Path) -> None:
    inner = [(1, 8, 1), (2, 8, 2)]
    outer = [*inner * 10, (3, 8, 5)]
    _, places = fold(program, outer * 1000)
    (loop,) = places
    assert (loop.count, loop.body[0].count, loop.body[1].peer) == (1000, 10, 3)


def test_computation_is_kept_apart_by_the_way_a_call_is_come_to(program: Path) -> None:
    """Of three waits in an iteration one follows computation: three gaps are not one."""
    waits = [(1, 0, 700), (1, 0, 1), (1, 0, 1), (2, 0, 3)]
    _, places = fold(program, [(1, 0, 90000), *waits[1:], *waits * 99])
    (loop,) = places
    first = loop.body[0].body[0]
    before, within, again = first.gaps
    assert before == (1, 90000)  # before the program's loop
    assert within == (200, 200)  # the second and third wait
    assert again == (99, 99 * 700)  # the first wait of a further iteration


def test_a_long_body_with_one_difference_is_compared_quickly(program: Path) -> None:
    """Parts that differ late took a comparison of all of their calls at each call."""
    chance = random.Random(3)
    body = [(peer, 8, 0) for peer in range(1500)]
    calls: list[Kept] = []
    for turn in range(40):
        body[chance.randrange(1500)] = (5000 + turn, 8, 0)
        calls += body
    detail, places = fold(program, calls)
    assert detail in (0, 1, 2)
    assert sum(leaf.calls for leaf in leaves(places)) in (0, len(calls))


def test_sizes_that_differ_each_time_become_means(program: Path) -> None:
    """As of particles that move: the order is kept, the sizes are summed up."""
    chance = random.Random(1)
    calls = [(k % 4, chance.randrange(10**6), 2) for k in range(8000)]
    detail, places = fold(program, calls, limit=1000)
    assert detail == 1
    (loop,) = places
    assert [leaf.peer for leaf in loop.body] == [0, 1, 2, 3]
    assert sum(leaf.bytes for leaf in leaves(places)) == sum(size for _, size, _ in calls)
    assert sum(leaf.calls for leaf in leaves(places)) == 8000
    assert sum(count for leaf in leaves(places) for count, _ in leaf.gaps) == 8000


def test_calls_without_any_order_are_given_up(program: Path) -> None:
    chance = random.Random(2)
    calls = [(chance.randrange(10**6), 8, 1) for _ in range(20000)]
    detail, places = fold(program, calls, limit=1000)
    assert (detail, places) == (2, [])
