"""What is said of every run, whatever its kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.base.files import sha256
from isochrone.base.table import Table as Records
from isochrone.pages import common
from isochrone.pages.common import date_in_words, document, measured_how, page_of, provenance
from isochrone.pages.options import in_use
from isochrone.pages.page import Facts, Later, Sentence, Table
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from made_up.latency_maps import block, latency_map, mmpi_example, with_retests
from made_up.sweeps import collective, point_to_point, table_of


def facts_of(run: Run) -> dict[str, str]:
    (facts,) = (part for part in provenance(run).blocks if isinstance(part, Facts))
    return dict(facts.items)


@pytest.mark.parametrize(
    ("date", "text"),
    [
        ("2026-01-02T03:04:05Z", "2 January 2026, 03:04 UTC"),
        ("yesterday", "yesterday"),
        ("", ""),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_dates_are_written_as_people_do(date: str, text: str) -> None:
    assert date_in_words(date) == text


def test_the_title_says_what_and_where_and_a_terminal_gets_keywords(golden: Golden) -> None:
    page = page_of(latency_map(block(8, 4)))
    golden(page.title)
    assert page.line == ("latency-map", "32 ranks on 8 nodes", "MPICH 5.0.2")
    assert page.facts == ("21 November 2026, 08:30 UTC", "MPICH 5.0.2")
    assert page.partial is None


def test_made_up_and_simulated_runs_say_so(golden: Golden) -> None:
    made_up, simulated = mmpi_example(), mmpi_example()
    made_up.header["experiment"] = "null"
    simulated.header["clock"] = {"simulated": True}
    golden(page_of(made_up).title)
    assert page_of(made_up).line[:1] == ("synthetic latency-map",), "an early file"
    golden(page_of(simulated).title)


def test_a_kind_that_nobody_knows_is_counted(golden: Golden) -> None:
    run = mmpi_example()
    run.header["experiment"], run.tables = (
        "new-thing",
        {"spot": Records(run.tables["pair"].columns)},
    )
    page = page_of(run)
    golden(page.title)
    (first,) = (part for part in page.sections[0].blocks if isinstance(part, Sentence))
    golden(first.text.strip())
    assert document(run)["records"] == {"spot": 6}


def test_a_run_that_was_cut_before_its_first_record_is_said_to_be_empty(golden: Golden) -> None:
    run = mmpi_example()
    run.tables, run.end = {}, None
    page = page_of(run)
    assert page.partial is not None
    (first,) = (part for part in page.sections[0].blocks if isinstance(part, Sentence))
    golden(first.text.strip())


def test_only_the_kind_that_is_needed_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    load = common.registry.load
    monkeypatch.setattr(common.registry, "load", lambda *a: asked.append(a) or load(*a))
    page_of(mmpi_example())
    page_of(point_to_point(sizes=(64,)))
    assert asked == [("*.kinds", "latency-map"), ("*.kinds", "sweep")]


def test_options_that_were_not_used_are_not_listed(golden: Golden) -> None:
    run = mmpi_example()
    both = {"repeats": 100, "precision": 0.05, "max-time": 1, "time-limit": 0, "force": False}
    run.header["options"] = both
    golden(measured_how(run))
    run.header["options"] = both | {"repeats": 0}
    golden(measured_how(run)[1:3])


def test_repetitions_are_those_that_were_made(golden: Golden) -> None:
    """A time limit lowered them: 100 were wanted, and 2 were made."""
    run = point_to_point(sizes=(8, 64), repeats=2)
    run.header["options"]["repeats"] = 100
    golden(dict(measured_how(run))["repetitions of each point"])
    rows = [row for row in run.tables["sample"].rows() if (row["bytes"], row["repeat"]) != (8, 1)]
    run.tables["sample"] = table_of(rows)
    golden(dict(measured_how(run))["repetitions of each point"])
    whole = point_to_point(sizes=(8, 64), repeats=2)
    whole.header["options"]["repeats"] = 2
    golden(dict(measured_how(whole))["repetitions of each point"])


def test_options_that_mean_nothing_beside_the_others_are_not_listed() -> None:
    run = point_to_point(sizes=(8, 64), repeats=2)
    always = {"bytes": [8, 64], "mode": "blocking", "cache": "hot", "layout": "contiguous"}
    idle = {
        "cache-bytes": 1 << 26,
        "stride": 10,
        "tolerance": 0.05,
        "max-points": 100,
        "smallest-gap": 64,
        "retest": 3,
        "min-repeats": 10,
        "max-repeats": 1000,
        "max-time": 1.0,
        "repeats": 2,
        "precision": 0.0,
        "time-limit": 0.0,
    }
    run.header["options"] = always | idle
    assert set(in_use(run)) == {*always, "repeats"}
    used = {"bytes": "auto:8:64", "cache": "cold", "layout": "vector"}
    run.header["options"] = always | idle | used
    called = {"cache-bytes", "stride", "tolerance", "max-points", "smallest-gap"}
    assert set(in_use(run)) == {*always, "repeats", *called}


def test_clocks_of_a_barrier_start_are_not_listed() -> None:
    run = collective(("bcast",), sizes=(8,), repeats=2)
    idle = {"clock-tolerance": 5e-6, "sync-age": 10.0, "sync-exchanges": 20}
    run.header["options"] |= idle
    assert not idle.keys() & in_use(run).keys()
    run.header["options"]["sync"] = "window"
    assert idle.keys() <= in_use(run).keys()


def test_what_was_measured_again_is_counted_instead_of_what_was_allowed(golden: Golden) -> None:
    run = latency_map(block(2, 2), options={"retest": 8, "schedule": "isolated", "repeats": 100})
    golden(dict(measured_how(run)))
    again = with_retests(run, [(0, 1), (1, 2)])
    golden(dict(measured_how(again))["measured again"])
    again.header["options"]["pairs"] = "0-1,1-2"
    golden(dict(measured_how(again)))


def test_options_are_written_as_people_do(golden: Golden) -> None:
    run = mmpi_example()
    run.header["options"] = {"bytes": [64, 1024], "shape": [8, 4], "order": "serial", "fast": True}
    golden(measured_how(run)[:4])


def test_hosts_are_listed_with_their_ranks() -> None:
    (later,) = page_of(latency_map(["b", "a", "b"])).sections[-1].blocks
    assert isinstance(later, Later)
    hosts = later.make()[-1]
    assert isinstance(hosts, Table)
    assert [row.cells for row in hosts.rows] == [("b", "2", "0,2"), ("a", "1", "1")]


def test_it_says_where_a_run_comes_from(tmp_path: Path, golden: Golden) -> None:
    runs.write(mmpi_example(), tmp_path / "a.jsonl")
    run = runs.read(tmp_path / "a.jsonl")
    assert facts_of(run)["SHA-256"] == sha256(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").unlink()
    golden(facts_of(run)["SHA-256"])
    run = mmpi_example()
    run.header["imported"] = {"format": "mmpi", "path": "a.log"}
    golden(facts_of(run)["run file"])
    assert facts_of(run)["original path"] == "a.log"


def test_settings_are_shown_in_one_line_and_in_the_report_with_the_machine(golden: Golden) -> None:
    run = latency_map(
        block(2, 2),
        settings={"UCX_TLS": "tcp", "FI_A": "\x1b[2J"},
        settings_left_out=["FI_TOKEN"],
        memory="host",
        machine={"kernel": "5.14", "governor": "performance", "numa": 2},
    )
    (section,) = (one for one in page_of(run).sections if one.title == "Settings")
    (sentence,) = section.blocks
    assert isinstance(sentence, Sentence)
    golden(sentence.text)
    facts = dict(measured_how(run))
    assert facts["UCX_TLS"] == "tcp"
    golden(facts["FI_TOKEN"])
    assert (facts["frequency governor"], facts["NUMA nodes"]) == ("performance", "2")
    assert document(run)["settings"]["UCX_TLS"] == "tcp"
    assert "Settings" not in [one.title for one in page_of(latency_map(block(2, 2))).sections]
