"""What is said of emulated applications: on a terminal, to a script and in a report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from beds.golden import Golden
from made_up.emulations import BULLY, QUIET, VICTIM, Truth, emulation
from rendered import document, report, row, show, words


def test_slowdowns_are_named_the_largest_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, emulation(noise=0.01))
    named = re.findall(r"victim: takes (\S+) times as long with (?:all )?(\w+)", text)
    assert {other for _, other in named} == {"bully", "others"}
    assert all(1.4 < float(ratio) < 1.6 for ratio, _ in named)
    assert [float(ratio) for ratio, _ in named] == sorted(
        (float(r) for r, _ in named), reverse=True
    )


def test_a_slowdown_stands_with_its_interval_or_not_at_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    """And it is said which of them are not significantly different from 1."""
    text = show(capsys, tmp_path, emulation([VICTIM, BULLY], noise=0.01))
    matrix = text.partition("Wall time concurrently")[2].partition("99th percentile")[0]
    golden(matrix)
    cells = re.findall(r"(\d\.\d+) \((\d\.\d+) … (\d\.\d+)\)( ~1)?", matrix)
    assert len(cells) == 2
    for middle, low, high, even in cells:
        assert float(low) <= float(middle) <= float(high)
        assert bool(even) == (float(low) <= 1 <= float(high))


def test_few_repeats_give_no_slowdown_and_say_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    run = emulation([VICTIM, BULLY], repeats=4)
    text = show(capsys, tmp_path, run)
    golden(text)
    assert "--repeats 5 or more" in text
    golden(row(text, "victim", "–", "4"))
    assert "Slowdown" not in words(report(tmp_path, run))


def test_no_slowdown_is_said_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    even = emulation([replace(VICTIM, slowed={}), QUIET], seed=2, noise=0.02)
    golden(show(capsys, tmp_path, even))


def test_shared_cores_that_were_not_simulated_are_not_called_harmless(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    even = emulation([replace(VICTIM, slowed={}), QUIET], seed=2, noise=0.02)
    harmless = show(capsys, tmp_path, even)
    even.warnings.append({"code": "not-bound", "text": "in a simulator ranks cannot be bound"})
    assert "significant slowdown" in harmless
    assert "significant slowdown" not in show(capsys, tmp_path, even)


def test_percentiles_without_enough_iterations_are_not_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, emulation([VICTIM]))
    table = text.partition("Time of an iteration on its slowest rank")[2]
    cells = row(table.partition("Phases when")[0], "victim", "–", "1,000").split()
    assert cells.count("–") == 2, "beside nobody, and no p99.9"
    golden(text)
    many = show(capsys, tmp_path, emulation([replace(VICTIM, iterations=800)]))
    golden(many)


def test_wall_times_say_communication_computation_and_overlap(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, emulation([VICTIM, BULLY], noise=0.0, drift=0.0, overlap=0.98))
    alone = row(text, "victim", "–", "5")
    assert re.search(r"48 % +41 % +70 % +100.2 % +–$", alone), alone
    assert row(text, "victim", "bully", "5").endswith("98 %")


def test_many_applications_are_a_list(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A matrix of more than six columns is wider than a terminal."""
    truths = [Truth(f"app-{k}", ranks=1, iterations=3) for k in range(7)]
    text = show(capsys, tmp_path, emulation(truths, events=False))
    table = text.partition("Wall time concurrently")[2].partition("Wall time of the")[0]
    assert len(re.findall(r"^app-3 +(app-\d|all others) +\d\.\d+ \(", table, re.M)) == 7


def test_messages_are_counted_and_the_largest_pairs_are_in_the_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, emulation([VICTIM]))
    golden(text)
    said = words(report(tmp_path, emulation([VICTIM])))
    assert "victim 3 0 200 800 KiB 4 KiB" in said


def test_the_document_has_the_keys_of_the_docs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = document(capsys, tmp_path, emulation())
    assert found["repeats"] == 5
    assert [app["name"] for app in found["apps"]] == ["victim", "bully", "quiet"]
    slow = next(one for one in found["slowdowns"] if one["beside"] == ["bully"])
    assert set(slow) == {"app", "beside", "n", "ratio", "low", "high", "differs", "p99"}
    assert set(slow["p99"]) == {"n", "ratio", "low", "high"}
    assert set(found["walls"][0]) == {
        "app",
        "beside",
        "n",
        "seconds",
        "low",
        "high",
        "overlap",
        "each",
    }
    assert set(found["iterations"][0]) == {
        "app",
        "beside",
        "n",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "max",
    }
    assert set(found["shares"][0]["communication"]) == {"min", "mean", "max"}
    assert found["phases"][0]["phase"] == "compute"
    assert found["edges"][0] == {
        "app": "victim",
        "from": 0,
        "to": 1,
        "messages": 200,
        "bytes": 204800,
    }


def test_doubts_are_warnings_everywhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    run = emulation([VICTIM, BULLY], overlap=0.4)
    golden(show(capsys, tmp_path, run))
    (warning,) = document(capsys, tmp_path, run)["warnings"]
    assert "40 %" in warning["text"]
    golden(words(report(tmp_path, run)))


def test_a_report_shows_the_matrix_the_timeline_and_the_phases(
    tmp_path: Path, golden: Golden
) -> None:
    text = report(tmp_path, emulation())
    for view in ("slowdown", "timeline", "phases"):
        assert f'<figure class="{view}">' in text
    golden(words(text))
    assert "94 %" in words(text), "five repeats hold the median with less than 95 %"


@pytest.mark.parametrize("repeats", [0, 1])
def test_a_run_that_was_cut_short_is_shown(
    repeats: int, capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    run = emulation(repeats=repeats, complete=False)
    text = show(capsys, tmp_path, run)
    assert "partial run" in text
    golden(text)
    assert "partial run" in words(report(tmp_path, run)).lower()


def test_names_from_the_file_are_shown_as_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = emulation([replace(VICTIM, name="<b>\x1b[31m$x$</b>")])
    assert "\x1b" not in show(capsys, tmp_path, run)
    assert "&lt;b&gt;" in report(tmp_path, run)


def test_the_report_holds_the_description_and_not_the_file_made_from_it(tmp_path: Path) -> None:
    run = emulation([VICTIM])
    run.header["notes"] = {"description": '{"isochrone":"app/1","apps":[{"name":"victim"}]}'}
    text = report(tmp_path, run)
    assert "isochrone: app/1\napps:\n- {name: victim}\n" in text
    assert "a.program" not in text
    assert words(text).count("app/1") == 1
    run.header["notes"] = {"description": "{"}
    assert "Description" not in words(report(tmp_path, run))
