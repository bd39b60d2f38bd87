"""What a map would call slow is measured again before it is called so; the file stays whole."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base.errors import Interrupted, MeasurementError
from isochrone.base.table import Table
from isochrone.latency_map.confirm import confirm
from isochrone.latency_map.topology import analyse
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from made_up.latency_maps import block, latency_map, with_retests

HOSTS = block(8, 4)


def measured(broken: dict[str, float] | None = None, **options: object) -> Run:
    given = {"bytes": [64], "retest": 8, "time-limit": 0, **options}
    return latency_map(HOSTS, noise=0.02, slow_hosts=broken, options=given)


def disturbed(run: Run, pairs: Sequence[tuple[int, int]]) -> Run:
    """Make some readings three times as long, as a burst of noise does."""
    table = run.tables["pair"]
    for i, j in pairs:
        row = np.flatnonzero((table["i"] == i) & (table["j"] == j))[0]
        for key in ("mean", "min", "median", "p95", "max", "low", "high"):
            table[key][row] *= 3
    return run


class Machine:
    """Starts of a probe that measures a machine whose truth is known."""

    def __init__(self, truth: Run, hosts: Sequence[str] = HOSTS) -> None:
        self.truth, self.hosts = truth, hosts
        self.asked: list[list[str]] = []
        self.said: list[str] = []

    def __call__(self, options: Sequence[str], out: Path) -> None:
        self.asked.append(list(options))
        runs.write(self.answer(options), out, overwrite=True)

    def answer(self, options: Sequence[str]) -> Run:
        listed = options[options.index("--pairs") + 1].split(",")
        pairs = [(int(i), int(j)) for i, j in (pair.split("-") for pair in listed)]
        found = with_retests(latency_map(self.hosts, options={}), pairs, factor=1.0)
        table = found.tables["pair"]
        found.tables["pair"] = table.where(table.flag("retest"))
        true = self.truth.matrix()
        for key in ("mean", "min", "median", "p95", "max", "low", "high"):
            found.tables["pair"].columns[key] = true[
                found.tables["pair"]["i"], found.tables["pair"]["j"]
            ]
        return found


def confirmed(folder: Path, run: Run, machine: Machine) -> Run:
    path = folder / "map.jsonl"
    runs.write(run, path)
    confirm(path, machine, machine.said.append)
    assert [file.name for file in folder.iterdir()] == ["map.jsonl"]
    return runs.read(path)


def test_a_disturbed_reading_is_seen_again_and_not_named(tmp_path: Path, golden: Golden) -> None:
    machine = Machine(measured())
    run = disturbed(measured(), [(2, 21), (5, 30)])
    assert [part.kind for part in analyse(run).slow] == ["pair", "pair"]
    after = confirmed(tmp_path, run, machine)
    assert analyse(after).slow == []
    assert len(machine.asked) == 1
    golden(machine.said)
    assert after.complete
    assert len(after.tables["pair"]) == len(run.tables["pair"]) + 4
    assert after.tables["launch"]["pairs"].tolist() == [4]
    assert after.end is not None
    assert after.end["seconds"] == pytest.approx(25.0)


@pytest.mark.slow
def test_what_is_truly_slow_is_named_after_it_was_seen_twice(tmp_path: Path) -> None:
    machine = Machine(measured({"n3": 2.4}))
    assert not any(part.retested for part in analyse(measured({"n3": 2.4})).slow)
    after = confirmed(tmp_path, measured({"n3": 2.4}), machine)
    (part,) = analyse(after).slow
    assert (part.kind, part.who, part.retested) == ("node", "n3", True)
    assert len(machine.asked) == 1


@pytest.mark.slow
def test_a_machine_that_is_disturbed_without_end_is_not_measured_without_end(
    tmp_path: Path,
) -> None:
    """Every reading names another pair: after some rounds it stays suspected."""

    class Restless(Machine):
        def __call__(self, options: Sequence[str], out: Path) -> None:
            super().__call__(options, out)
            path = out.with_name("map.jsonl")
            found = runs.read(path)
            k = len(self.asked)
            runs.write(disturbed(found, [(k, 31 - k)]), path, overwrite=True)

    machine = Restless(measured())
    after = confirmed(tmp_path, disturbed(measured(), [(0, 31)]), machine)
    assert len(machine.asked) == 4
    assert [part.retested for part in analyse(after).slow] == [False]


def test_ranks_on_other_hosts_are_not_believed(tmp_path: Path) -> None:
    """Numbers of ranks mean other places then."""
    machine = Machine(measured(), hosts=list(reversed(HOSTS)))
    run = disturbed(measured(), [(2, 21)])
    after = confirmed(tmp_path, run, machine)
    assert len(after.tables["pair"]) == len(run.tables["pair"])
    assert "other hosts" in machine.said[-1]


def test_the_file_is_untouched_if_the_probe_cannot_be_started_again(
    tmp_path: Path, golden: Golden
) -> None:
    path, said = tmp_path / "map.jsonl", []
    runs.write(disturbed(measured(), [(2, 21)]), path)
    before = path.read_bytes()

    def fail(options: Sequence[str], out: Path) -> None:
        out.write_text('{"record":"run"')
        raise MeasurementError("the ranks failed", hint=f"partial results are in {out}")

    confirm(path, fail, said.append)
    assert path.read_bytes() == before
    golden(said[-1])
    assert list(tmp_path.iterdir()) == [path]


def test_a_signal_ends_it_and_leaves_the_whole_map(tmp_path: Path, golden: Golden) -> None:
    """What is said of the file that it leaves is true: the second one is gone."""
    path = tmp_path / "map.jsonl"
    runs.write(disturbed(measured(), [(2, 21)]), path)
    before = path.read_bytes()

    def end(options: Sequence[str], out: Path) -> None:
        out.write_text('{"record":"run"')
        error = Interrupted(signal.SIGTERM)
        error.hint = f"partial results are in {out}"
        raise error

    with golden.refusal(kind=Interrupted):
        confirm(path, end, lambda text: None)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.header["options"].update({"retest": 0}),
        lambda run: run.header["options"].update({"time-limit": 12.0}),
        lambda run: run.header["options"].update({"pairs": "0-1"}),
        lambda run: run.header.update({"made_up": True, "kind": "latency-map"}),
        lambda run: run.header.update({"imported": {"format": "mmpi"}}),
        lambda run: setattr(run, "end", None),
    ],
    ids=["retest-0", "no-time-left", "pairs", "made-up", "imported", "partial"],
)
def test_nothing_is_started_if_it_is_not_wanted_or_cannot_be(
    change: Callable[[Run], None], tmp_path: Path
) -> None:
    machine, run = Machine(measured()), disturbed(measured(), [(2, 21)])
    change(run)
    confirmed(tmp_path, run, machine)
    assert machine.asked == []


def test_each_message_size_chooses_what_is_measured_again(tmp_path: Path) -> None:
    """A node with a slow link: only its large messages take longer."""
    run = measured(bytes=[64, 1 << 20])
    small, large = run.tables["pair"], measured({"n3": 3.0}).tables["pair"]
    large.columns["bytes"] = np.full(len(large), 1 << 20)
    both = {key: np.concatenate([small[key], large[key]]) for key in small.columns}
    run.tables["pair"] = Table(both)
    machine = Machine(measured({"n3": 3.0}))
    confirmed(tmp_path, run, machine)
    pairs = [pair.split("-") for pair in machine.asked[0][1].split(",")]
    suspected = [pair for pair in pairs if any(HOSTS[int(rank)] == "n3" for rank in pair)]
    assert len(suspected) >= 3


def test_the_time_limit_of_the_run_holds_for_all_of_it(tmp_path: Path) -> None:
    """The map took 12.5 s of its 20: 7.5 are left."""
    machine = Machine(measured())
    confirmed(tmp_path, disturbed(measured(**{"time-limit": 20.0}), [(2, 21)]), machine)
    (options,) = machine.asked
    assert options[options.index("--time-limit") + 1] == "7.5"


def test_pairs_that_are_suspected_for_other_reasons_are_measured_again_once(tmp_path: Path) -> None:
    """Protects that a pair slower than on earlier nights is seen twice, too."""
    machine, path = Machine(measured()), tmp_path / "map.jsonl"
    runs.write(measured(), path)
    found = confirm(
        path,
        machine,
        machine.said.append,
        lambda run: () if run.pairs().flag("retest").any() else [(2, 21)],
    )
    assert [options[options.index("--pairs") + 1] for options in machine.asked] == ["2-21"]
    again = found.tables["pair"].where(found.tables["pair"].flag("retest"))
    assert (again["i"].tolist(), again["j"].tolist()) == ([2], [21])
