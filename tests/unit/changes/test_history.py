"""Runs over time: changes are seen where they are, and noise is none."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
import numpy as np
import pytest

from beds.golden import Golden
from isochrone.changes.history import History, histories_of
from isochrone.changes.nights import Night, fill, nights_of
from isochrone.changes.pages.history import history_page
from isochrone.cli.commands import history as command
from isochrone.pages.page import Listing, Sentence
from isochrone.runfile.file import read, write
from isochrone.runfile.run import Run
from made_up import nights
from made_up.launches import launches
from made_up.nights import Cluster, launch, shape


def dated(runs: list[Run]) -> list[Run]:
    for day, run in enumerate(runs, start=1):
        run.header["started"] = f"2026-10-{day:02d}T03:00:00Z"
    return runs


def season(name: str, changes_at: int, truth: str, by: float, runs: int = 14) -> History:
    dice = np.random.default_rng(3)
    machine = shape(name, dice)
    slow = getattr(nights, truth)(machine, dice, by)
    made = [launch(machine, dice, slow if k >= changes_at else None) for k in range(runs)]
    (found,) = histories_of(dated(made)[::-1])
    return found


@pytest.mark.slow
def test_a_node_that_became_slow_changed_that_night_and_no_other_node_did() -> None:
    found = season("few nodes", 9, "node", 1.25)
    (changed,) = [one for one in found.of("node") if one.changes]
    (change,) = changed.changes
    assert change.at == 9
    assert change.ratio == pytest.approx(1.25, rel=0.05)
    assert found.dates == sorted(found.dates)


def test_nights_on_other_hosts_are_one_history_and_a_node_that_became_slow_is_shown() -> None:
    """The scheduler gives 12 of 16 hosts, others every night; levels did not change with them."""
    dice = np.random.default_rng(4)
    cluster = Cluster.drawn(16, 2, dice)
    jobs = [cluster.job(12, dice) for _ in range(16)]
    slow = int(jobs[-1][3])
    runs = [cluster.launch(job, dice, {slow: 1.4} if k >= 8 else {}) for k, job in enumerate(jobs)]
    (found,) = histories_of(dated(runs))
    (changed,) = [one for one in found.series if one.changes]
    (change,) = changed.changes
    with_it = [k for k, job in enumerate(jobs) if slow in job]
    assert changed.what.host == cluster.names[slow]
    assert np.flatnonzero(~np.isnan(changed.seconds)).tolist() == with_it
    assert change.at == next(k for k in with_it if k >= 8)
    assert change.ratio == pytest.approx(1.4, rel=0.05)
    assert not any(found.marks)
    assert len(history_page(*nights_of(runs)).sections) == 4


def test_parts_of_a_cluster_that_share_no_host_are_histories_of_their_own() -> None:
    dice = np.random.default_rng(4)
    cluster = Cluster.drawn(16, 2, dice)
    runs = [cluster.launch(np.arange(k % 2, 16, 2), dice) for k in range(8)]
    assert [len(one.nights) for one in histories_of(dated(runs))] == [4, 4]


@pytest.mark.slow
def test_a_level_that_became_slow_changed_and_its_nodes_did_not() -> None:
    found = season("flat", 6, "level", 1.3)
    assert [(one.name, [c.at for c in one.changes]) for one in found.of("level")] == [
        ("level 0 (node)", []),
        ("level 1 (network)", [6]),
    ]
    assert not any(one.changes for one in found.of("node"))


def test_nothing_changed_where_nothing_did() -> None:
    found = season("few nodes", 99, "node", 1.0, runs=20)
    assert not any(one.changes for one in found.series)


@pytest.mark.parametrize(("seed", "by"), [(1, 3.0), (2, 1.3), (3, 1.0)])
def test_the_last_night_is_judged_first(seed: int, by: float) -> None:
    """A single bad night is no lasting change, but it is what the page is opened for."""
    dice = np.random.default_rng(seed)
    machine = shape("few nodes", dice)
    slow = nights.level(machine, dice, by)
    runs = dated([launch(machine, dice, slow if k == 9 else None) for k in range(10)])
    first, second = history_page(*nights_of(runs)).sections[:2]
    verdict, lasting = first.blocks[0], [b for b in second.blocks if isinstance(b, Sentence)][-1]
    assert isinstance(verdict, Sentence)
    assert (verdict.tone, lasting.tone) == (("good", "good") if by == 1 else ("bad", ""))


def test_few_runs_say_that_they_are_few(golden: Golden) -> None:
    dice = np.random.default_rng(1)
    page = history_page(*nights_of(dated(launches(4, dice))))
    said = [
        block.text
        for section in page.sections
        for block in section.blocks
        if hasattr(block, "text")
    ]
    golden(said)


def test_a_run_with_other_settings_is_marked_and_named_beside_the_change() -> None:
    dice = np.random.default_rng(2)
    before = launches(7, dice, between=0.02, within=0.02, mpi={"library": "MPICH 5.0.2"})
    after = launches(7, dice, between=0.02, within=0.02, factor=1.4, mpi={"library": "MPICH 5.0.3"})
    runs = dated([*before, *after])
    (found,) = histories_of(runs)
    assert [k for k, mark in enumerate(found.marks) if mark] == [7]
    assert found.marks[7][0].what == "MPI library"
    sections = history_page(*nights_of(runs)).sections
    lists = [block for one in sections for block in one.blocks if isinstance(block, Listing)]
    assert "MPICH 5.0.2 | MPICH 5.0.3" in lists[0].items[0].text


def test_other_hosts_and_other_ranks_are_other_histories_and_partial_runs_none(
    golden: Golden,
) -> None:
    dice = np.random.default_rng(2)
    runs = launches(5, dice)
    runs[3].header["experiment"] = "bisection"
    runs[4].end = None
    assert [len(one.nights) for one in histories_of(runs)] == [3, 1]
    with golden.refusal():
        history_page(*nights_of(runs[4:]))


def test_a_host_that_the_last_night_lacks_has_a_history() -> None:
    """Protects what became of a host that was drained."""
    dice = np.random.default_rng(5)
    cluster = Cluster.drawn(12, 1, dice)
    runs = [
        cluster.launch(np.arange(0 if k < 9 else 1, 12), dice, {0: 1.3} if 5 <= k < 9 else None)
        for k in range(12)
    ]
    (found,) = histories_of(dated(runs))
    (changed,) = [one for one in found.of("node") if one.changes]
    assert changed.what.host == "c000"
    assert [change.at for change in changed.changes] == [5]
    assert changed.changes[0].ratio == pytest.approx(1.3, rel=0.05)
    assert len(found.of("node")) == 12


def test_a_later_call_reads_only_what_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects the time of a page that is written every morning from thousands of nights."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "nights").mkdir()
    dice = np.random.default_rng(1)
    machine = shape("few nodes", dice)
    runs = dated([launch(machine, dice) for _ in range(9)])
    files = [tmp_path / "nights" / f"{k}.jsonl" for k in range(9)]
    calls: list[Path] = []
    monkeypatch.setattr(command, "read_one", lambda file, _: calls.append(file) or read(file))
    monkeypatch.setattr(command, "write_page", lambda page, path: pages.append(page))
    pages: list[object] = []
    arguments = argparse.Namespace(
        folder=tmp_path / "nights", output=tmp_path / "page", force=True, tests=[]
    )

    def nights_read(count: int) -> list[str]:
        for run, file in zip(runs[:count], files[:count], strict=True):
            if not file.exists():
                write(run, file)
        calls.clear()
        command.run(arguments)
        return [file.name for file in calls]

    monkeypatch.setattr("isochrone.changes.pages.history.LATEST", 2)
    assert set(nights_read(8)) == {file.name for file in files[:8]}
    assert nights_read(8) == ["5.jsonl", "6.jsonl", "7.jsonl"]  # those that the check compares
    again, first = pages.pop(), pages.pop()
    assert [s.blocks for s in again.sections[2:]] == [s.blocks for s in first.sections[2:]]
    write(runs[8], files[0], overwrite=True)
    assert files[0].name in nights_read(8)


def test_what_is_kept_of_a_night_survives_the_file_it_is_kept_in() -> None:
    dice = np.random.default_rng(1)
    kept, reader = nights_of(dated(launches(4, dice)))
    fill(kept, reader)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(kept), type=list[Night]) == kept


def changed_at(*levels: float, noise: float = 0.0) -> list[int]:
    """Return where runs changed whose times are these, with a scatter of ``noise``."""
    dice = np.random.default_rng(1)
    runs = [
        launches(1, dice, between=0.0, within=0.0, factor=level * (1 + noise * (-1) ** k))[0]
        for k, level in enumerate(levels)
    ]
    (found,) = histories_of(dated(runs))
    (curve,) = found.of("curve")
    return [change.at for change in curve.changes]


def test_a_change_is_larger_than_the_threshold_and_than_the_scatter() -> None:
    """5 % at least; four standard errors of the difference at least, here of six runs each side."""
    assert changed_at(*[1.0] * 6, *[1.04] * 6) == []
    assert changed_at(*[1.0] * 6, *[1.06] * 6) == [6]
    error = 0.1 * np.sqrt(12 / 10 * 2 / 6)  # 12 deviations of 10 %, 10 degrees of freedom
    assert changed_at(*[1.0] * 6, *[np.exp(4.8 * error)] * 6, noise=0.1) == [6]
    assert changed_at(*[1.0] * 6, *[np.exp(3.5 * error)] * 6, noise=0.1) == []


def test_a_lasting_change_has_three_runs_on_both_sides_and_a_series_five_changes() -> None:
    assert changed_at(*[1.0] * 3, *[2.0] * 3) == [3]
    assert changed_at(*[1.0] * 6, *[2.0] * 2, *[1.0] * 6) == []
    assert changed_at(*[1.0] * 6, *[2.0] * 3, *[1.0] * 6) == [6, 9]
    steps = [2.0**k for k in range(8) for _ in range(4)]
    assert changed_at(*steps[:24]) == [4, 8, 12, 16, 20]
    assert len(changed_at(*steps)) <= 5


def test_a_run_that_ended_before_its_first_result_spoils_no_history() -> None:
    dice = np.random.default_rng(5)
    cluster = Cluster.drawn(4, 2, dice)
    job = cluster.job(4, dice)
    runs = dated([cluster.launch(job, dice, {}) for _ in range(4)])
    runs[1].tables.clear()
    (history,) = histories_of(runs)
    assert [night.started for night in history.nights] == [
        run.header["started"] for run in runs if run.tables
    ]
