"""The flow of `tune collective-io`, with programs whose truth is known and that need no MPI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone.base.errors import InputError, Interrupted, MeasurementError
from isochrone.collective_io.predict.whole_call import WholeCall
from isochrone.collective_io.program import chooser, tuning
from isochrone.collective_io.program.chooser import (
    SIEVING,
    Chooser,
    general,
    ompio_ways,
    romio_ways,
    unbuffered_ways,
)
from isochrone.collective_io.program.summary import Summary, program_calls, summary
from isochrone.collective_io.program.trials import Proposal, Trials
from isochrone.collective_io.program.tuning import Wish, tune
from isochrone.collective_io.results.io_recording import Independent, RecordedFile
from isochrone.collective_io.results.io_times import Account, Part
from isochrone.formats.importers import darshan
from isochrone.runfile.file import read
from isochrone.runfile.run import Run
from made_up.io_programs import FakeProgram, recording

Hints = Mapping[str, str]

WAYS = [
    Proposal("four aggregators", {"cb_nodes": "4"}),
    Proposal("an order", {"cb_config_list": "n1,n8,*:1"}),
    Proposal("collective buffering off", {"romio_cb_write": "disable"}),
]


FILE = RecordedFile(0, "out", np.arange(16), 1, {}, {}, [])


def recorded(folder: Path) -> Path:
    recording(folder / "r.jsonl", 6.0)
    return folder / "r.jsonl"


def choose(run: Run, found: Summary) -> tuple[list[Proposal], dict[str, Any]]:
    """Return the same ways for every program."""
    return WAYS, {"warnings": []}


def tuned(
    program: FakeProgram, folder: Path, least: float = 0.03
) -> tuple[Proposal | None, dict[str, Any]]:
    """Tune a program; return what is kept, and the report."""
    document: dict[str, Any] = {}
    trials = Trials(program, folder, None, {}, lambda text: None)
    return tune(trials, Wish(5, least), choose, document), document


def off_or_order(off: float, order: float) -> Any:
    """Return a truth in which no collective buffering, or an order of aggregators, gains."""

    def gain(hints: Hints) -> float:
        return off if "disable" in hints.values() else order if "cb_config_list" in hints else 1.0

    return gain


def by_order(gain: float) -> Any:
    """Return a truth in which the order of aggregators gains."""
    return lambda hints: gain if "cb_config_list" in hints else 1.0


def test_the_setting_that_is_faster_is_kept_with_its_gain(tmp_path: Path) -> None:
    kept, said = tuned(FakeProgram(by_order(1.5)), tmp_path)
    assert kept == WAYS[1]
    assert said["gain"].low > 1
    assert said["gain"].ratio == pytest.approx(1.5, rel=0.15)
    assert said["whole_gain"].ratio == pytest.approx(10 / 8, rel=0.15)
    assert said["given"]["calls"] == said["gain"].given
    assert said["proposed"]["hints"] == WAYS[1].hints
    assert said["patterns"][0]["calls"] == 2
    assert said["parts"]["exchange"] == pytest.approx(0.7 * said["call_seconds"])
    assert said["best_possible"]["gain"] == pytest.approx(10 / 4, rel=0.15)


@pytest.mark.parametrize(("noise", "filesystem"), [(0.05, ""), (0.4, ""), (0.4, "tmpfs")])
def test_the_number_of_launches_is_within_what_was_said(
    noise: float, filesystem: str, tmp_path: Path
) -> None:
    """Printed before: heats and pairs, with those that are added if the verdict is not known."""
    for seed in range(4):
        said: list[str] = []
        program = FakeProgram(off_or_order(1.3, 1.2), noise=noise, filesystem=filesystem, seed=seed)
        tune(Trials(program, tmp_path, None, {}, said.append), Wish(3, 0.03), choose, {})
        line = next(text for text in said if "settings to try" in text)
        few, most = map(int, re.findall(r"(\d+) to (\d+) launches", line)[0])
        assert few <= len(program.__dict__["started"]) - 1 <= most
        assert any(text.startswith("3 (romio_cb_write disable): ") for text in said)


def test_the_estimate_includes_what_a_launch_needs_in_addition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program takes 10 s, its launch with --before 20 s: 8 to 60 launches of three settings."""
    clock = iter([0.0, 20.0])
    monkeypatch.setattr(tuning, "monotonic", lambda: next(clock))
    said: list[str] = []
    trials = Trials(FakeProgram(by_order(1.0)), tmp_path, None, {}, said.append)
    tune(trials, Wish(5, 0.03), choose, {})
    (text,) = (text for text in said if "minutes" in text)
    assert re.findall(r"[0-9.]+", text) == ["3", "8", "60", "20", "2.7", "20.0"]


@pytest.mark.parametrize(
    ("off", "noise", "verdict"),
    [(2.0, 0.02, "faster"), (1.0, 0.02, "same"), (1.3, 0.6, "not known")],
)
def test_the_verdict_of_the_pairs_is_in_the_report(
    off: float, noise: float, verdict: str, tmp_path: Path
) -> None:
    document: dict[str, Any] = {}
    program = FakeProgram(off_or_order(off, 0.5), noise=noise, seed=4)
    trials = Trials(program, tmp_path, None, {}, lambda text: None)
    kept = tune(trials, Wish(5, 0.03), lambda run, found: (WAYS[2:], {}), document)
    assert document["verdict"] == verdict
    assert (kept is not None) == (verdict == "faster")
    assert document["choices"][0]["gain"] == document["gain"]


def test_the_report_says_what_became_of_each_choice(tmp_path: Path) -> None:
    _, said = tuned(FakeProgram(by_order(1.5)), tmp_path)
    dropped = {one["words"]: one["dropped"] for one in said["choices"]}
    assert dropped["an order"] is None
    assert "slower" in dropped["four aggregators"]
    assert sum(len(one["starts"]) for one in said["choices"]) < said["starts"]


@pytest.mark.parametrize(
    ("filesystem", "off", "order", "portable"),
    [
        ("tmpfs", 4.0, 1.5, WAYS[1]),
        ("ext", 4.0, 1.0, None),
        ("tmpfs", 1.0, 1.5, "not asked"),
        ("lustre", 4.0, 1.5, "not asked"),
        ("", 4.0, 1.5, "not asked"),
    ],
)
def test_where_a_file_system_of_one_host_explains_the_gain_another_setting_is_proved_too(
    filesystem: str, off: float, order: float, portable: Proposal | str | None, tmp_path: Path
) -> None:
    program = FakeProgram(off_or_order(off, order), filesystem=filesystem)
    kept, said = tuned(program, tmp_path)
    assert kept == WAYS[2 if off > order else 1]
    if portable == "not asked":
        assert "portable" not in said
        return
    found = said["portable"]
    assert bool(found["why"]) == (portable is None)
    if isinstance(portable, Proposal):
        assert found["proposed"]["hints"] == portable.hints
        assert found["gain"].low > 1
        assert len(found["given"]["starts"]) == len(found["proposed"]["starts"]) == 5
        pairs = program.__dict__["started"][-10:]  # of its own: none of the first proof
        assert sum(hints == portable.hints for hints in pairs) == 5


@pytest.mark.parametrize(
    ("hints", "environ", "portable"),
    [
        ({"romio_cb_read": "disable"}, {}, False),
        ({"romio_ds_write": "disable"}, {}, False),
        ({}, {"OMPI_MCA_fcoll": "individual"}, False),
        ({"romio_cb_write": "enable", "cb_nodes": "4"}, {}, True),
        ({}, {"OMPI_MCA_io": "romio341"}, True),
    ],
)
def test_what_rests_on_the_file_system(
    hints: Hints, environ: Mapping[str, str], portable: bool
) -> None:
    assert Proposal("", hints, environ).portable == portable


@pytest.mark.slow
def test_of_many_programs_without_a_gain_hardly_any_is_changed(tmp_path: Path) -> None:
    """From the first recorded run to the verdict; 1 of 20 at most."""
    changed = sum(
        tuned(FakeProgram(lambda hints: 1.0, seed=seed), tmp_path)[0] is not None
        for seed in range(40)
    )
    assert changed <= 2


@pytest.mark.slow
def test_of_many_programs_with_a_gain_of_a_fifth_nearly_all_are_changed(tmp_path: Path) -> None:
    found = [tuned(FakeProgram(by_order(1.2), seed=seed), tmp_path)[0] for seed in range(25)]
    assert sum(one == WAYS[1] for one in found) >= 23


def test_an_earlier_recording_takes_the_place_of_a_first_launch(tmp_path: Path) -> None:
    """Its bytes may be others: it may be of more ranks."""
    earlier = read(recorded(tmp_path))
    program = FakeProgram(by_order(1.5))
    trials = Trials(program, tmp_path, None, {}, lambda text: None, earlier)
    document: dict[str, Any] = {}
    proposal = tune(trials, Wish(5, 0.03), choose, document)
    assert proposal == WAYS[1]
    assert document["starts"] == trials.started
    assert trials.recording == tmp_path / "r.jsonl"
    endless = read(recorded(tmp_path))
    endless.end = {"complete": True}
    with pytest.raises(InputError):
        tune(Trials(program, tmp_path, None, {}, print, endless), Wish(5, 0.03), choose, {})


@pytest.mark.parametrize(("library", "romio"), [("Open MPI v5", False), ("MPICH 4.3", True)])
def test_the_library_of_the_program_says_whose_hints_a_log_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, romio: bool
) -> None:
    """Logs of Darshan tell no hints."""
    monkeypatch.setattr(chooser, "installed", lambda mpicc: ({"fcoll:vulcan"}, {}))
    run = darshan.IMPORTER.read(ROOT / "tests/golden/darshan/collective.txt")
    program = FakeProgram(by_order(1.5))
    program.__dict__ |= {"says": library, "probe": SimpleNamespace(mpicc=None)}
    trials = Trials(program, tmp_path, None, {}, lambda text: None, run)
    ways, report = Chooser(trials, None, measure=False).choose(run, summary(run, 1.0))
    assert report["library"] == ("ROMIO" if romio else "OMPIO")
    assert all(way.hints for way in ways) == romio


def test_the_pairs_of_the_proof_had_no_part_in_the_choice(tmp_path: Path) -> None:
    program = FakeProgram(by_order(1.5))
    _, said = tuned(program, tmp_path)
    last = program.__dict__["started"][-10:]
    assert sum(not hints for hints in last) == 5
    assert len(said["given"]["starts"]) == len(said["proposed"]["starts"]) == 5


def test_a_program_with_little_collective_io_is_started_once(
    tmp_path: Path, golden: Golden
) -> None:
    program = FakeProgram(by_order(2.0), calls=0.2)
    kept, said = tuned(program, tmp_path)
    assert kept is None
    assert len(program.__dict__["started"]) == 1
    golden(said["why"])


def test_independent_io_is_tuned_by_its_own_time(tmp_path: Path) -> None:
    kept, said = tuned(FakeProgram(by_order(2.0), collective=False), tmp_path)
    assert kept is not None
    assert said["gain"].ratio == pytest.approx(2.0, rel=0.1)


def test_a_launch_that_transfers_other_bytes_is_no_result(tmp_path: Path) -> None:
    """Twice as fast, but as the library does not have what was set, it opens no file."""
    kept, said = tuned(FakeProgram(by_order(2.0), transfers=lambda hints: not hints), tmp_path)
    assert kept is None
    assert all("0 B" in one["dropped"] for one in said["choices"])


def summed(busy: float) -> Summary:
    account = Account(9.0, busy, 8.0, 10.0, [Part("waiting", 9.0 - busy, 20.0, 0.6)])
    return Summary(10.0, [], [], {}, [FILE], account)


def test_waiting_for_late_ranks_is_no_access() -> None:
    found = summed(busy=4.0)
    assert (found.waiting, found.transfer, found.share) == (5.0, 4.0, 0.4)
    assert found.best_possible()["gain"] == pytest.approx(10 / 6)
    assert summed(busy=9.0).best_possible()["gain"] == pytest.approx(10)


def test_calls_without_buffering_are_tried_with_and_without(tmp_path: Path) -> None:
    """Without, ROMIO does not first ask all ranks what they access."""
    run = read(recorded(tmp_path))
    (one, *_) = program_calls(run, summary(run, 10.0))
    alone = replace(one, call=replace(one.call, aggregators=[]))
    assert not alone.call.collective
    hints = [
        dict(way.hints) for way in romio_ways([alone], general(), WholeCall.calibrated(None, []))
    ]
    assert hints == [{"romio_cb_write": "enable"}, {"romio_cb_write": "disable"}]


@pytest.mark.parametrize(("now", "tried"), [("automatic", "disable"), ("disable", "enable")])
def test_data_sieving_is_switched_for_accesses_of_single_ranks(now: str, tried: str) -> None:
    alone = replace(
        FILE, hints={"romio_ds_write": now}, independent=[Independent("write", 4, 4096, 4, 1.0)]
    )
    (way,) = unbuffered_ways(Summary(10.0, [], [], {}, [alone]))
    assert way.hints == {"romio_ds_write": tried}
    nonblocking = unbuffered_ways(Summary(10.0, [], [], {}, [FILE], unmodelled=True))
    assert {one.hints["romio_cb_read"] for one in nonblocking} == {"enable", "disable"}


def test_only_what_an_open_mpi_has_is_proposed() -> None:
    have = {"io:romio321", "io:ompio", "fcoll:vulcan", "fcoll:individual"}
    ways = [one.environ for one in ompio_ways(["a", "a"], have, {SIEVING[1]: "1", SIEVING[0]: "0"})]
    assert {"OMPI_MCA_io": "romio321"} in ways
    fcoll = {one["OMPI_MCA_fcoll"] for one in ways if "OMPI_MCA_fcoll" in one}
    assert fcoll == {"vulcan", "individual"}
    assert {f"OMPI_MCA_{SIEVING[1]}": "0"} in ways
    assert len(ompio_ways(["a", "a"], (), {})) == 2, "numbers of aggregators"


def test_hints_without_effect_are_not_taken_for_a_gain(tmp_path: Path, golden: Golden) -> None:
    """The program is "faster", but the library reports the values that it had before."""
    kept, said = tuned(FakeProgram(by_order(2.0), obeys=False), tmp_path)
    assert kept is None
    dropped = [one["dropped"] for one in said["choices"]]
    golden(dropped)


def test_a_setting_with_which_the_program_fails_is_dropped(tmp_path: Path) -> None:
    def gain(hints: Hints) -> float:
        if "cb_config_list" in hints:
            raise MeasurementError("mpiexec failed (exit status 9)")
        return 1.4 if "cb_nodes" in hints else 1.0

    kept, said = tuned(FakeProgram(gain), tmp_path)
    assert kept == WAYS[0]
    assert said["choices"][1]["dropped"] == "mpiexec failed (exit status 9)"


def test_a_program_that_fails_as_it_is_ends_the_work(tmp_path: Path) -> None:
    def gain(hints: Hints) -> float:
        raise MeasurementError("mpiexec failed (exit status 9)")

    with pytest.raises(MeasurementError):
        tuned(FakeProgram(gain), tmp_path)


def test_an_interruption_keeps_what_was_measured(tmp_path: Path) -> None:
    count = [0]

    def gain(hints: Hints) -> float:
        count[0] += 1
        if count[0] == 4:
            raise Interrupted(2)
        return 1.0

    document: dict[str, Any] = {}
    trials = Trials(FakeProgram(gain), tmp_path, None, {}, lambda text: None)
    with pytest.raises(Interrupted):
        tune(trials, Wish(5, 0.03), choose, document)
    assert document["starts"] == 3
    assert [len(one["starts"]) for one in document["choices"]] == [1, 0, 0]
    assert document["patterns"]


def test_what_is_proposed_follows_from_the_recording(tmp_path: Path) -> None:
    """Nodes of 4, 4, 2, 2, 1, 1, 1 and 1 ranks: another order halves the hot spot."""
    chosen: list[list[Proposal]] = []

    def remembered(run: Run, found: Summary) -> Any:
        trials = Trials(FakeProgram(by_order(1)), tmp_path, None, {}, lambda text: None)
        answer = Chooser(trials, None, measure=False).choose(run, found)
        chosen.append(answer[0])
        return answer

    trials = Trials(FakeProgram(by_order(1.4)), tmp_path, None, {}, lambda text: None)
    tune(trials, Wish(5, 0.03), remembered, {})
    hints = [dict(one.hints) for one in chosen[0]]
    assert len(hints) <= 4
    assert any(one.get("cb_config_list", "*").startswith("n1") for one in hints)
    assert {"romio_cb_write": "disable"} in hints
    assert len({tuple(one.items()) for one in hints}) == len(hints)


def test_hints_of_the_program_itself_are_left_out_and_named(tmp_path: Path) -> None:
    warnings: list[str] = []

    def remembered(run: Run, found: Summary) -> Any:
        trials = Trials(FakeProgram(by_order(1)), tmp_path, None, {}, lambda text: None)
        ways, said = Chooser(trials, None, measure=False).choose(run, found)
        warnings.extend(said["warnings"])
        assert not any("cb_config_list" in one.hints for one in ways)
        return ways, said

    program = FakeProgram(by_order(1), given={"cb_config_list": "*:1"})
    tune(Trials(program, tmp_path, None, {}, lambda text: None), Wish(5, 0.03), remembered, {})
    assert any("cb_config_list=*:1 itself" in text for text in warnings)
