"""The nightly job as an administrator sets it up: exit status, list of hosts, reports, history."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from beds.command_line import Command
from beds.golden import Golden
from isochrone.runfile.file import write
from made_up.latency_maps import block, flat, leaving, map_of, one_slow_host


def run_file(path: Path, seed: int, slow: float = 0.0, name: str = "n{}") -> Path:
    run = one_slow_host(slow, seed, name)
    run.header["started"] = f"2026-11-{seed:02d}T03:00:00Z"
    write(run, path)
    return path


@pytest.fixture
def baseline(isochrone: Command, tmp_path: Path) -> Path:
    runs = [run_file(tmp_path / f"{k}.jsonl", k) for k in range(1, 7)]
    assert isochrone("baseline", "add", tmp_path / "nights", *runs).returncode == 0
    return tmp_path / "nights"


def test_a_good_night_exits_with_0_and_an_empty_list(
    isochrone: Command, tmp_path: Path, baseline: Path
) -> None:
    hosts = tmp_path / "bad.txt"
    run = run_file(tmp_path / "new.jsonl", 20)
    answer = isochrone("check", run, "--baseline", baseline, "--hosts-out", hosts)
    assert answer.returncode == 0, answer.stderr
    assert hosts.read_text() == ""


def test_a_slow_host_exits_with_1_and_is_in_all_that_was_asked_for(
    isochrone: Command, tmp_path: Path, baseline: Path
) -> None:
    hosts, report = tmp_path / "bad.txt", tmp_path / "check.xml"
    run = run_file(tmp_path / "new.jsonl", 20, slow=0.6)
    answer = isochrone(
        "check", run, "--baseline", baseline, "--json", "--hosts-out", hosts, "--junit", report
    )
    assert answer.returncode == 1
    document = json.loads(answer.stdout)
    assert (document["verdict"], document["exit"]) == ("slow", 1)
    assert document["bad_hosts"] == ["n2"]
    assert {one["verdict"] for one in document["runs"][0]["findings"]} == {"slow", "slower"}
    assert document["runs"][0]["earlier"] == 6
    assert hosts.read_text() == "n2\n"
    assert Xml.parse(report).getroot().get("failures") == "1"


def test_what_is_known_is_allowed_and_a_rule_that_does_nothing_is_told(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    run = run_file(tmp_path / "new.jsonl", 20, slow=3)
    hosts = tmp_path / "bad.txt"
    rules = ("--allow", "host=n2", "--allow", "host=n7")
    answer = isochrone("check", run, *rules, "--hosts-out", hosts)
    assert answer.returncode == 0, answer.stderr
    golden(answer.stdout)
    assert hosts.read_text() == ""


def test_a_night_with_a_slow_node_does_not_become_usual(
    isochrone: Command, tmp_path: Path, baseline: Path
) -> None:
    """Slow by itself, or worse than the nights before; and all of it can be undone."""
    kept = sorted(baseline.iterdir())
    by_itself = run_file(tmp_path / "a.jsonl", 20, slow=3)
    later = map_of(1.5 * flat(8), block(8))
    write(later, tmp_path / "b.jsonl")
    for night in (by_itself, tmp_path / "b.jsonl"):
        assert isochrone("baseline", "add", baseline, night).returncode == 2
        assert sorted(baseline.iterdir()) == kept
        assert isochrone("baseline", "add", baseline, night, "--allow-slow").returncode == 0
        assert len(list(baseline.iterdir())) == len(kept) + 1
        assert isochrone("baseline", "remove", baseline, night).returncode == 0
        assert sorted(baseline.iterdir()) == kept


@pytest.mark.filterwarnings("error")
def test_times_of_0_are_below_the_resolution_and_blame_nobody(
    isochrone: Command, tmp_path: Path, baseline: Path
) -> None:
    """Of one rank or of all; nothing is divided by them."""
    for number, zero in enumerate((np.arange(8) == 0, np.ones(8, dtype=bool))):
        run = one_slow_host(0.0, 20 + number)
        table = run.tables["pair"]
        table["median"][zero[table["i"]] | zero[table["j"]]] = 0.0
        file = tmp_path / f"zero-{number}.jsonl"
        write(run, file)
        answer = isochrone("check", file, "--baseline", baseline, "--json")
        document = json.loads(answer.stdout)
        assert (answer.returncode, answer.stderr) == (4, "")
        assert (document["verdict"], document["bad_hosts"]) == ("not known", [])
        assert document["runs"][0]["findings"] == []
        assert isochrone("show", file, "--json").returncode == 0
        assert isochrone("compare", next(baseline.iterdir()), file).returncode == 2


def test_an_empty_file_of_the_baseline_is_left_out(
    isochrone: Command, tmp_path: Path, baseline: Path
) -> None:
    (baseline / "20261101T030000-0.jsonl").write_text("")
    run = run_file(tmp_path / "new.jsonl", 20)
    answer = isochrone("check", run, "--baseline", baseline, "--json")
    assert answer.returncode == 0
    assert json.loads(answer.stdout)["runs"][0]["earlier"] == 6
    assert answer.stderr.count("\n") == 1
    assert isochrone("history", baseline, "-o", tmp_path / "h.html").returncode == 0


def test_a_suspect_has_an_exit_code_and_a_list_of_its_own(
    isochrone: Command, tmp_path: Path
) -> None:
    """A map that was measured with --retest 0."""
    run, hosts, suspects = (tmp_path / name for name in ("map.jsonl", "bad", "suspects"))
    write(map_of(flat(8) + 3 * leaving(np.arange(8) == 2), block(8)), run)
    lists = ("--hosts-out", hosts, "--suspects-out", suspects, "--force")
    for strict, code in (((), 4), (("--strict",), 1), (("--lenient",), 0)):
        answer = isochrone("check", run, "--json", *lists, *strict)
        document = json.loads(answer.stdout)
        assert (answer.returncode, document["exit"]) == (code, code)
        assert (document["verdict"], document["bad_hosts"]) == ("not known", [])
        assert document["suspects"] == ["n2"]
        assert [one["verdict"] for one in document["runs"][0]["findings"]] == ["possibly slow"]
        assert (hosts.read_text(), suspects.read_text()) == ("", "n2\n")
    same = isochrone("check", run, "--hosts-out", hosts, "--suspects-out", hosts, "--force")
    assert same.returncode == 2


def test_a_run_of_the_baseline_is_not_held_against_itself(
    isochrone: Command, tmp_path: Path, baseline: Path
) -> None:
    answer = isochrone("check", tmp_path / "1.jsonl", "--baseline", baseline, "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["runs"][0]["earlier"] == 5


def test_not_known_has_an_exit_code_of_its_own(isochrone: Command, tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    write(map_of(flat(3), block(3)), path)
    answer = isochrone("check", path)
    assert answer.returncode == 4, answer.stderr
    assert answer.stdout.startswith("not known: few.jsonl")
    assert isochrone("check", path, "--strict").returncode == 1
    assert isochrone("check", path, "--lenient").returncode == 0
    assert isochrone("check", path, "--strict", "--lenient").returncode == 2


def test_a_name_that_could_harm_is_in_no_list_and_the_terminal_obeys_nothing(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    run = run_file(tmp_path / "new.jsonl", 20, slow=3, name="n{};reboot\x1b[2J")
    hosts, report = tmp_path / "bad.txt", tmp_path / "check.xml"
    page = tmp_path / "check.html"
    answer = isochrone("check", run, "--hosts-out", hosts, "--junit", report, "--page", page)
    assert answer.returncode == 1
    assert "\x1b" not in page.read_text("utf-8")
    assert hosts.read_text() == ""
    golden.measured(answer.stderr)
    assert "\x1b" not in answer.stdout + answer.stderr
    Xml.parse(report)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--allow", "host=n5;rm"], "' is not a valid rule"),
        (["--baseline", "NONE"], "no such folder"),
        (["--hosts-out", "OLD"], "the file exists"),
        (["--junit", "RUN"], "it is also the input"),
        (["--hosts-out", "NEW", "--junit", "NEW"], "name the same file"),
        (["--hosts-out", "NONE/bad.txt"], "the folder does not exist"),
        (["--worse", "much"], "not a percentage such as 5%"),
    ],
)
def test_wrong_use_is_one_line_and_status_2_and_writes_nothing(
    isochrone: Command, tmp_path: Path, options: list[str], said: str
) -> None:
    run = run_file(tmp_path / "RUN", 20, slow=3)
    (tmp_path / "OLD").write_text("kept")
    known = ("NONE", "OLD", "RUN", "NEW")
    argv = [tmp_path / word if word.split("/")[0] in known else word for word in options]
    answer = isochrone("check", run, *argv)
    assert answer.returncode == 2
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert (tmp_path / "OLD").read_text() == "kept"
    assert not (tmp_path / "NEW").exists()


def test_the_baseline_is_listed_and_shown(isochrone: Command, baseline: Path) -> None:
    def said(*words: str) -> str:
        answer = isochrone("baseline", words[0], baseline, *words[1:])
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    assert "6 runs: latency-map on 8 ranks" in said("list")
    (group,) = json.loads(said("list", "--json"))["groups"]
    assert len(group["runs"]) == 6
    assert "level 0 (network)" in said("show")
    (group,) = json.loads(said("show", "--json"))["groups"]
    times = {one["who"]: one for one in group["times"]}
    assert times["n2"]["low"] < times["n2"]["seconds"] < times["n2"]["high"]
    assert times["n2"]["seconds"] == pytest.approx(3e-6, rel=0.05)


@pytest.mark.slow
def test_the_history_is_a_page_and_a_picture(
    isochrone: Command, tmp_path: Path, baseline: Path
) -> None:
    page, picture = tmp_path / "history.html", tmp_path / "history.svg"
    slow = [run_file(tmp_path / f"s{k}.jsonl", k, slow=0.8) for k in range(10, 16)]
    assert isochrone("baseline", "add", baseline, *slow, "--allow-slow").returncode == 0
    assert isochrone("history", baseline, "-o", page).returncode == 0
    text = page.read_text()
    assert "Node n2" in text
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert isochrone("history", baseline, "-o", page).returncode == 2, "it is not overwritten"
    assert isochrone("plot", baseline, "--view", "history", "-o", picture).returncode == 0
    assert picture.read_text().count("n2")


@pytest.mark.parametrize(
    "argv", [["history", "EMPTY"], ["plot", "EMPTY", "--view", "history"], ["history", "NONE"]]
)
def test_without_runs_there_is_no_history(
    isochrone: Command, tmp_path: Path, argv: list[str]
) -> None:
    (tmp_path / "EMPTY").mkdir()
    words = [tmp_path / word if word in ("EMPTY", "NONE") else word for word in argv]
    answer = isochrone(*words, "-o", tmp_path / "a.svg")
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1


def test_a_history_of_hostile_names_obeys_none(isochrone: Command, tmp_path: Path) -> None:
    run = run_file(tmp_path / "a.jsonl", 1, name="<script>alert(1)</script>${}$\x1b")
    folder, page = tmp_path / "nights", tmp_path / "history.html"
    assert isochrone("baseline", "add", folder, run).returncode == 0
    assert isochrone("history", folder, "-o", page).returncode == 0
    assert "<script" not in page.read_text()


def test_a_log_says_how_many_runs_a_history_read(isochrone: Command, tmp_path: Path) -> None:
    """Protects the time of a page of many nights: none is read twice."""
    folder, log = tmp_path / "nights", tmp_path / "log.txt"
    runs = [run_file(tmp_path / f"{night}.jsonl", night) for night in (1, 2)]
    assert isochrone("baseline", "add", folder, *runs).returncode == 0
    for _ in range(2):
        answer = isochrone("history", folder, "-o", tmp_path / "h.html", "--force", "--log", log)
        assert answer.returncode == 0
    counts = re.findall(r"(\d+) runs\D+(\d+)", log.read_text())
    assert counts == [("2", "2"), ("2", "0")]


def test_add_keeps_what_later_nights_can_be_compared_with(
    isochrone: Command, tmp_path: Path
) -> None:
    """The first three nights are not known, and kept; a slow one is not, unless it is waived."""
    nights = tmp_path / "nights"
    codes = []
    for night in range(1, 5):
        run = run_file(tmp_path / f"{night}.jsonl", night)
        codes.append(isochrone("check", run, "--baseline", nights, "--add").returncode)
    assert codes == [4, 4, 4, 0]
    assert len(list(nights.iterdir())) == 4
    slow = run_file(tmp_path / "slow.jsonl", 20, slow=3)
    assert isochrone("check", slow, "--baseline", nights, "--add").returncode == 1
    assert len(list(nights.iterdir())) == 4
    waived = ("--allow", "host=n2")
    assert isochrone("check", slow, "--baseline", nights, "--add", *waived).returncode == 0
    assert len(list(nights.iterdir())) == 5
    unconfirmed = map_of(flat(8) + 3 * leaving(np.arange(8) == 2), block(8))
    write(unconfirmed, tmp_path / "suspect.jsonl")
    new = tmp_path / "new"
    answer = isochrone("check", tmp_path / "suspect.jsonl", "--baseline", new, "--add")
    assert answer.returncode == 4
    assert not new.exists()
    answer = isochrone("check", slow, "--add")
    assert (answer.returncode, answer.stderr.count("\n")) == (2, 1)
