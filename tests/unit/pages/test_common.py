"""What is said of every run, whatever its kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.base.files import sha256
from isochrone.base.table import Table as Records
from isochrone.pages import common
from isochrone.pages.common import date_in_words, document, measured_how, page_of, provenance
from isochrone.pages.page import Facts, Sentence, Table
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from made_up.latency_maps import block, latency_map, mmpi_example
from made_up.sweeps import point_to_point


def facts_of(run: Run) -> dict[str, str]:
    (facts,) = (part for part in provenance(run).blocks if isinstance(part, Facts))
    return dict(facts.items)


@pytest.mark.parametrize(
    ("date", "text"),
    [("2026-01-02T03:04:05Z", "2 January 2026, 03:04 UTC"), ("yesterday", "yesterday"), ("", ""),
     ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00")],
)  # fmt: skip
def test_dates_are_written_as_people_do(date: str, text: str) -> None:
    assert date_in_words(date) == text


def test_the_title_says_what_and_where_and_a_terminal_gets_keywords() -> None:
    page = page_of(latency_map(block(8, 4)))
    assert page.title == "Latency map of 32 ranks on 8 nodes"
    assert page.line == ("latency-map", "32 ranks on 8 nodes", "MPICH Version: 5.0.2")
    assert page.facts == ("21 November 2026, 08:30 UTC", "MPICH Version: 5.0.2")
    assert page.partial is None


def test_made_up_and_simulated_runs_say_so() -> None:
    made_up, simulated = mmpi_example(), mmpi_example()
    made_up.header["experiment"] = "null"
    simulated.header["clock"] = {"simulated": True}
    assert page_of(made_up).title.startswith("Made-up latency map")
    assert page_of(made_up).line[:2] == ("null", "made up")
    assert page_of(simulated).title.startswith("Simulated latency map")


def test_a_kind_that_nobody_knows_is_counted() -> None:
    run = mmpi_example()
    run.header["experiment"], run.tables = (
        "new-thing",
        {"spot": Records(run.tables["pair"].columns)},
    )
    page = page_of(run)
    assert page.title == "New thing of 4 ranks on 2 nodes"
    (first,) = (part for part in page.sections[0].blocks if isinstance(part, Sentence))
    assert first.text.strip() == "6 records of 'spot'"
    assert document(run)["records"] == {"spot": 6}


def test_a_run_that_was_cut_before_its_first_record_is_said_to_be_empty() -> None:
    run = mmpi_example()
    run.tables, run.end = {}, None
    page = page_of(run)
    assert page.partial is not None
    (first,) = (part for part in page.sections[0].blocks if isinstance(part, Sentence))
    assert first.text.strip() == "it holds no measurement"


def test_only_the_kind_that_is_needed_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    load = common.registry.load
    monkeypatch.setattr(common.registry, "load", lambda *a: asked.append(a) or load(*a))
    page_of(mmpi_example())
    page_of(point_to_point(sizes=(64,)))
    assert asked == [("pages.kinds", "latency-map"), ("pages.kinds", "sweep")]


def test_options_that_were_not_used_are_not_listed() -> None:
    run = mmpi_example()
    both = {"repeats": 100, "precision": 0.05, "max-time": 1, "time-limit": 0, "force": False}
    run.header["options"] = both
    assert measured_how(run) == [("repeats", "100"), ("total time", "1.00 s")]
    run.header["options"] = both | {"repeats": 0}
    assert measured_how(run)[:2] == [
        ("target precision", "5 %"),
        ("maximum time per pair", "1.00 s"),
    ]


def test_options_are_written_as_people_do() -> None:
    run = mmpi_example()
    run.header["options"] = {"bytes": [64, 1024], "shape": [8, 4], "order": "serial", "fast": True}
    assert measured_how(run)[:4] == [
        ("message sizes", "64 B, 1 KiB"), ("shape", "8, 4"),
        ("order of the pairs", "serial: one pair at a time, with a barrier before each"),
        ("fast", "yes"),
    ]  # fmt: skip


def test_hosts_are_listed_with_their_ranks() -> None:
    hosts = page_of(latency_map(["b", "a", "b"])).sections[-1].blocks[-1]
    assert isinstance(hosts, Table)
    assert [row.cells for row in hosts.rows] == [("b", "2", "0,2"), ("a", "1", "1")]


def test_it_says_where_a_run_comes_from(tmp_path: Path) -> None:
    runs.write(mmpi_example(), tmp_path / "a.jsonl")
    run = runs.read(tmp_path / "a.jsonl")
    assert facts_of(run)["SHA-256"] == sha256(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").unlink()
    assert facts_of(run)["SHA-256"] == "the file no longer exists"
    run = mmpi_example()
    run.header["imported"] = {"format": "mmpi", "path": "a.log"}
    assert facts_of(run)["run file"] == "none: the run was made in memory"
    assert facts_of(run)["original path"] == "a.log"
