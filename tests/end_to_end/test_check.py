"""The nightly job as an administrator sets it up: exit status, list of hosts, reports, history."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from isochrone.cli.main import main
from isochrone.runfile.file import write
from made_up.latency_maps import block, flat, leaving, map_of, noisy


def run_file(path: Path, seed: int, slow: float = 0.0, name: str = "n{}") -> str:
    matrix = noisy(flat(8) + slow * leaving(np.arange(8) == 2), 0.02, seed)
    run = map_of(matrix, block(8, name=name))
    run.header["started"] = f"2026-11-{seed:02d}T03:00:00Z"
    write(run, path)
    return str(path)


@pytest.fixture
def baseline(tmp_path: Path) -> str:
    runs = [run_file(tmp_path / f"{k}.jsonl", k) for k in range(1, 7)]
    assert main(["baseline", "add", str(tmp_path / "nights"), *runs]) == 0
    return str(tmp_path / "nights")


def test_a_good_night_exits_with_0_and_an_empty_list(tmp_path: Path, baseline: str) -> None:
    hosts = tmp_path / "bad.txt"
    run = run_file(tmp_path / "new.jsonl", 20)
    assert main(["check", run, "--baseline", baseline, "--hosts-out", str(hosts)]) == 0
    assert hosts.read_text() == ""


def test_a_slow_host_exits_with_1_and_is_in_all_that_was_asked_for(
    tmp_path: Path, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts, report = tmp_path / "bad.txt", tmp_path / "check.xml"
    run = run_file(tmp_path / "new.jsonl", 20, slow=0.6)
    capsys.readouterr()
    argv = ["check", run, "--baseline", baseline, "--json"]
    assert main([*argv, "--hosts-out", str(hosts), "--junit", str(report)]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["exit"]) == ("slow", 1)
    assert document["bad_hosts"] == ["n2"]
    assert {one["verdict"] for one in document["runs"][0]["findings"]} == {"slow", "worse"}
    assert document["runs"][0]["earlier"] == 6
    assert hosts.read_text() == "n2\n"
    assert Xml.parse(report).getroot().get("failures") == "1"


def test_what_is_known_is_allowed_and_a_rule_that_does_nothing_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_file(tmp_path / "new.jsonl", 20, slow=3)
    hosts = tmp_path / "bad.txt"
    argv = ["check", run, "--allow", "host=n2", "--allow", "host=n7", "--hosts-out", str(hosts)]
    assert main(argv) == 0
    said = capsys.readouterr().out
    assert "allowed by host=n2" in said
    assert "the rule host=n7 allowed nothing" in said
    assert hosts.read_text() == ""


def test_a_run_of_the_baseline_is_not_held_against_itself(
    tmp_path: Path, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(tmp_path / "1.jsonl"), "--baseline", baseline]) == 0
    assert "held against 5 earlier runs" in capsys.readouterr().out


def test_not_known_is_said_and_fails_only_if_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "few.jsonl"
    write(map_of(flat(3), block(3)), path)
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out.startswith("not known: few.jsonl")
    assert main(["check", str(path), "--strict"]) == 1


def test_a_name_that_could_harm_is_in_no_list_and_the_terminal_obeys_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_file(tmp_path / "new.jsonl", 20, slow=3, name="n{};reboot\x1b[2J")
    hosts, report = tmp_path / "bad.txt", tmp_path / "check.xml"
    assert main(["check", run, "--hosts-out", str(hosts), "--junit", str(report)]) == 1
    said = capsys.readouterr()
    assert hosts.read_text() == ""
    assert "is no name of a host" in said.err
    assert "\x1b" not in said.out + said.err
    Xml.parse(report)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--allow", "host=n5;rm"], "is no rule"),
        (["--baseline", "NONE"], "no such folder"),
        (["--hosts-out", "OLD"], "exists already"),
        (["--junit", "RUN"], "it is the file that is read"),
        (["--hosts-out", "NEW", "--junit", "NEW"], "name the same file"),
        (["--hosts-out", "NONE/bad.txt"], "its folder does not exist"),
        (["--worse", "much"], "not a part such as 10%"),
    ],
)
def test_wrong_use_is_one_line_and_status_2_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    run = run_file(tmp_path / "RUN", 20, slow=3)
    (tmp_path / "OLD").write_text("kept")
    known = ("NONE", "OLD", "RUN", "NEW")
    argv = [str(tmp_path / word) if word.split("/")[0] in known else word for word in options]
    try:
        status = main(["check", run, *argv])
    except SystemExit as end:
        status = int(str(end.code))
    answer = capsys.readouterr()
    assert status == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert (tmp_path / "OLD").read_text() == "kept"
    assert not (tmp_path / "NEW").exists()


def test_the_baseline_is_listed_and_shown(
    baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["baseline", "list", baseline]) == 0
    assert "6 runs: latency-map on 8 ranks" in capsys.readouterr().out
    assert main(["baseline", "list", baseline, "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert len(group["runs"]) == 6
    assert main(["baseline", "show", baseline]) == 0
    assert "level 0 (network)" in capsys.readouterr().out
    assert main(["baseline", "show", baseline, "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    times = {one["who"]: one for one in group["times"]}
    assert times["n2"]["low"] < times["n2"]["seconds"] < times["n2"]["high"]
    assert times["n2"]["seconds"] == pytest.approx(3e-6, rel=0.05)


def test_the_history_is_a_page_and_a_picture(tmp_path: Path, baseline: str) -> None:
    page, picture = tmp_path / "history.html", tmp_path / "history.svg"
    slow = [run_file(tmp_path / f"s{k}.jsonl", k, slow=0.8) for k in range(10, 16)]
    assert main(["baseline", "add", baseline, *slow]) == 0
    assert main(["history", baseline, "-o", str(page)]) == 0
    text = page.read_text()
    assert "Node n2" in text
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert main(["history", baseline, "-o", str(page)]) == 2, "it is not overwritten"
    assert main(["plot", baseline, "--view", "history", "-o", str(picture)]) == 0
    assert picture.read_text().count("n2")


@pytest.mark.parametrize(
    "argv", [["history", "EMPTY"], ["plot", "EMPTY", "--view", "history"], ["history", "NONE"]]
)
def test_without_runs_there_is_no_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    (tmp_path / "EMPTY").mkdir()
    words = [str(tmp_path / word) if word in ("EMPTY", "NONE") else word for word in argv]
    assert main([*words, "-o", str(tmp_path / "a.svg")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_history_of_hostile_names_obeys_none(tmp_path: Path) -> None:
    run = run_file(tmp_path / "a.jsonl", 1, name="<script>alert(1)</script>${}$\x1b")
    folder, page = str(tmp_path / "nights"), tmp_path / "history.html"
    assert main(["baseline", "add", folder, run]) == 0
    assert main(["history", folder, "-o", str(page)]) == 0
    assert "<script" not in page.read_text()
