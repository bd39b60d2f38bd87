"""Described applications as a user emulates them: run, shown, drawn, exported, refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.golden import Golden
from beds.mpis import ROOT, Mpi
from isochrone.applications.description.reading import parse
from isochrone.runfile import file as runs
from isochrone.runfile.file import write
from made_up.sweeps import point_to_point

FIG2 = ROOT / "examples/apps/fig2.yaml"


@pytest.fixture(scope="module")
def fig2(isochrone: Command, mpich: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Barton's Fig. 2, once, each pattern alone and all at once."""
    folder = tmp_path_factory.mktemp("fig2")
    answer = isochrone(
        "emulate",
        FIG2,
        "-n",
        16,
        "--repeats",
        1,
        "--combinations",
        "alone,all",
        "--kill-after",
        100,
        "-o",
        "fig2.jsonl",
        "--quiet",
        cwd=folder,
    )
    assert answer.returncode == 0, answer.stderr
    left = [path.name for path in folder.iterdir()]
    assert left == ["fig2.jsonl"], "the program file is removed"
    return folder / "fig2.jsonl"


def test_all_four_patterns_run_alone_and_at_once(isochrone: Command, fig2: Path) -> None:
    found = json.loads(isochrone("show", fig2, "--json").stdout)
    names = ["client-server", "task-farm", "token-ring", "pipeline"]
    assert [app["name"] for app in found["apps"]] == names
    assert found["complete"] is True
    walls = {(one["app"], len(one["beside"])): one["seconds"] for one in found["walls"]}
    assert set(walls) == {(name, k) for name in names for k in (0, 3)}
    assert all(seconds > 0 for seconds in walls.values())
    counts = {one["app"]: one["n"] for one in found["iterations"] if not one["beside"]}
    assert counts == {"client-server": 40, "task-farm": 10, "token-ring": 40, "pipeline": 40}
    for one in found["shares"]:
        assert 0 <= one["communication"]["min"] <= one["communication"]["max"] <= 1


def test_the_messages_are_those_of_the_patterns(isochrone: Command, fig2: Path) -> None:
    """Three clients that ask and are answered; a ring; a pipeline of four."""
    found = json.loads(isochrone("show", fig2, "--json").stdout)
    sent = {(e["app"], e["from"], e["to"]): (e["messages"], e["bytes"]) for e in found["edges"]}
    assert sent["client-server", 1, 0] == (40, 40 * 512)
    assert sent["client-server", 0, 1] == (40, 40 * 4096)
    assert sent["pipeline", 0, 1] == (40, 40 * 65536)
    assert ("pipeline", 3, 0) not in sent
    assert sum(n for (app, _, _), (n, _) in sent.items() if app == "token-ring") == 4 * 40


def test_the_run_file_holds_the_description(fig2: Path) -> None:
    """So that what was done can be predicted, exported and done again."""
    run = runs.read(fig2)
    description = parse(json.loads(run.notes["description"]), "fig2.jsonl")
    assert description.apps[0].name == "client-server"
    assert description.repeats == 1
    assert description.runs == ("alone", "all")


def test_few_repeats_are_said_and_give_no_slowdown(isochrone: Command, fig2: Path) -> None:
    text = isochrone("show", fig2).stdout
    assert "few launches" in text
    assert "that alone" not in text


@pytest.mark.parametrize("view", ["timeline", "phases"])
def test_it_is_drawn(view: str, isochrone: Command, fig2: Path, tmp_path: Path) -> None:
    answer = isochrone("plot", fig2, "--view", view, "-o", tmp_path / "a.png")
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_it_stands_beside_what_models_predict(
    isochrone: Command, fig2: Path, tmp_path: Path
) -> None:
    """In the picture of phases and in the report; whatever the times are here."""
    messages = point_to_point(sizes=(0, 512, 4096, 65536), pairs=((0, 1),), repeats=4)
    write(messages, tmp_path / "messages.jsonl")
    fitted = isochrone("fit", "messages.jsonl", "--family", "hockney", "-o", "m.json", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    answer = isochrone(
        "plot", fig2, "--view", "phases", "--model", "m.json", "-o", "a.svg", cwd=tmp_path
    )
    assert answer.returncode == 0, answer.stderr
    assert "and predicted" in (tmp_path / "a.svg").read_text()
    answer = isochrone("report", fig2, "--model", "m.json", "-o", "a.html", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "and predicted" in (tmp_path / "a.html").read_text()
    answer = isochrone(
        "plot", fig2, "--view", "phases", "--model", "none.json", "-o", "b.svg", cwd=tmp_path
    )
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1


def test_it_is_reported_and_exported(isochrone: Command, fig2: Path, tmp_path: Path) -> None:
    assert isochrone("report", fig2, "-o", tmp_path / "a.html").returncode == 0
    assert '<figure class="timeline">' in (tmp_path / "a.html").read_text()
    assert isochrone("export", fig2, "--to", "csv", "-o", tmp_path / "a.csv").returncode == 0
    head, *rows = (tmp_path / "a.csv").read_text().splitlines()
    assert head.startswith("launch,repeat,app,beside,iteration,rank,seconds")
    alone = [row for row in rows if ",token-ring,," in row]
    assert len(alone) == 40 + 4, "a row for each iteration and each rank"


def test_a_dry_run_prints_one_command_and_starts_nothing(
    isochrone: Command, mpich: Mpi, tmp_path: Path
) -> None:
    answer = isochrone("emulate", FIG2, "-n", 16, "--dry-run", "-o", "a.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert " app --program " in answer.stdout
    assert answer.stdout.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_ranks_are_those_of_the_applications_or_of_a_setting(
    isochrone: Command, mpich: Mpi, tmp_path: Path
) -> None:
    answer = isochrone("emulate", FIG2, "--set", "each=2", "--dry-run", cwd=tmp_path)
    assert " -n 8 " in answer.stdout, answer.stderr
    answer = isochrone("emulate", FIG2, "--set", "pipeline.p=6", "--dry-run", cwd=tmp_path)
    assert " -n 18 " in answer.stdout, answer.stderr


def test_the_schema_is_printed_without_a_description(isochrone: Command) -> None:
    answer = isochrone("emulate", "--schema")
    assert answer.returncode == 0
    assert "$schema" in json.loads(answer.stdout)


def spec(*phases: str, more: str = "", ranks: int = 2) -> str:
    listed = "\n".join(f"      - {phase}" for phase in phases)
    return (
        f"isochrone: app/1\napps:\n  - name: one\n    ranks: {ranks}\n    iterations: 2\n"
        f"    phases:\n{listed}\n{more}"
    )


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (spec("compute: 1us", ranks=5), "apps", "need 5 ranks"),
        (
            spec("exchange: {topology: {edges: [[0, 1], [1, 0]]}, flow: stream, bytes: 8}"),
            "apps[0].phases[0].exchange",
            "cycle",
        ),
        (
            spec("exchange: {topology: {edges: [[0, 9]]}, flow: exchange, bytes: 8}"),
            "apps[0].phases[0].exchange.topology",
            "9",
        ),
        (spec("compute: -1us"), "apps[0].phases[0].compute", "negative"),
        (spec("compute: 1us/0"), "apps[0].phases[0].compute", ""),
        (
            spec("exchange: {topology: token-ring, bytes: 8, method: posix-file}"),
            "apps[0].phases[0].exchange.method",
            "path",
        ),
        (
            spec("exchange: {topology: token-ring, bytes: 8, method: {posix-file: /no/such/file}}"),
            "apps[0].phases[0].exchange.method",
            "the folder /no/such does not exist",
        ),
        (
            spec(
                "compute: 1us",
                more="  - {name: one, iterations: 1, ranks: 1, phases: [{compute: 1us}]}\n",
            ),
            "apps[1].name",
            "one",
        ),
        (spec("compute: 1us", more="speed: 3\n"), "speed", ""),
        ("", "spec.yaml", "empty"),
    ],
)
def test_bad_input_is_one_line_before_any_rank_starts(
    text: str, where: str, what: str, isochrone: Command, mpich: Mpi, tmp_path: Path
) -> None:
    """It names the path of the key, and neither a run nor a program stays behind."""
    (tmp_path / "spec.yaml").write_text(text)
    answer = isochrone("emulate", "spec.yaml", "-n", 4, "-o", "a.jsonl", cwd=tmp_path)
    assert answer.returncode == 2, answer.stdout
    assert answer.stderr.count("\n") == 1
    assert answer.stderr.startswith("isochrone: spec.yaml")
    assert where in answer.stderr
    assert what in answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["spec.yaml"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--combinations", "alone,three"], "no application 'three'"),
        (["--combinations", "one+"], "' has an empty name between two commas"),
        (["--repeats", "0"], "not a number of runs"),
        (["--set", "n"], "not NAME=VALUE"),
        (["--set", "m=3"], "there is no parameter 'm'"),
        (["-o", "nowhere/a.jsonl"], "the folder does not exist"),
        (["-o", "spec.yaml", "--force"], "it is also the input"),
    ],
)
def test_bad_options_are_one_line(
    options: list[str], words: str, isochrone: Command, mpich: Mpi, tmp_path: Path
) -> None:
    (tmp_path / "spec.yaml").write_text(spec("compute: 1us"))
    answer = isochrone("emulate", "spec.yaml", "-n", 4, *options, cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert words in answer.stderr


def test_what_ends_too_late_is_ended_and_kept(
    isochrone: Command, mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    """And the program file is removed then, too."""
    (tmp_path / "spec.yaml").write_text(spec("compute: {time: 1h, mode: sleep}"))
    answer = isochrone(
        "emulate", "spec.yaml", "-n", 2, "--kill-after", 2, "-o", "a.jsonl", "--quiet", cwd=tmp_path
    )
    assert answer.returncode == 3
    golden.measured(answer.stderr)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "spec.yaml"]
    assert not runs.read(tmp_path / "a.jsonl").complete
