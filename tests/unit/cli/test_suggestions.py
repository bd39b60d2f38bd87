"""What was mistyped is answered by what was probably meant, and help is found by its name."""

from __future__ import annotations

import pytest

from beds.command_line import Command
from beds.golden import Golden
from isochrone.base.text import did_you_mean, nearest


def test_the_nearest_name_is_found_and_nothing_is_made_up(golden: Golden) -> None:
    assert nearest("shwo", ["show", "suite"]) == "show"
    assert nearest("SHOW", ["show"]) == "show"
    assert nearest("xyzzy", ["show", "suite"]) == ""
    assert did_you_mean("xyzzy", ["show"]) == ""
    golden(did_you_mean("shwo", ["show"]))


@pytest.mark.usefixtures("mpich")
@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["shwo"], "show"),
        (["predict", "colective"], "collective"),
        (["show", "a.jsonl", "--jsn"], "--json"),
        (["compare", "a", "b", "--margn=3"], "--margin"),
        (["plot", "a.jsonl", "--view", "heetmap", "-o", "a.png"], "heatmap"),
        (["export", "a.jsonl", "--to", "gnplot"], "gnuplot"),
        (["import", "a.txt", "--from", "ous"], "osu"),
        (["measure", "latencymap"], "latency-map"),
        (["measure", "latency-map", "-n", "2", "--reps", "4"], "--repeats"),
        (["measure", "synthetic", "-n", "2", "--ouput", "4"], "--output"),
        (["measure", "point-to-point", "-n", "2", "--preset", "siezs"], "sizes"),
        (["measure", "synthetic", "--launcher", "srn"], "srun"),
        (["measure", "synthetic", "--launcher", "slurm"], "srun"),
        (["measure", "synthetic", "--launcher", "openmpi"], "mpirun-openmpi"),
        (["measure", "collective", "-n", "2", "--op", "bcast,alreduce"], "allreduce"),
        (["suite", "quik"], "quick"),
    ],
)
def test_one_line_says_what_was_meant(
    isochrone: Command, words: list[str], meant: str, golden: Golden
) -> None:
    answer = isochrone(*words)
    assert answer.returncode == 2
    golden(answer.stderr)
    assert answer.stderr.count("\n") == 1


def test_a_family_of_models_is_suggested(
    isochrone: Command, tmp_path: object, golden: Golden
) -> None:
    (tmp_path / "t.csv").write_text(  # type: ignore[operator]
        "b,seconds\n" + "".join(f"{b},{1e-6 + 1e-9 * b}\n" for b in (1, 8, 64, 512, 4096, 9999))
    )
    answer = isochrone("fit", "t.csv", "--family", "hockny", cwd=tmp_path)
    assert answer.returncode == 2
    golden(answer.stderr)


@pytest.mark.usefixtures("mpich")
def test_help_x_is_x_help(isochrone: Command) -> None:
    for words in (["fit"], ["predict", "collective"], ["measure", "latency-map"], []):
        answer = isochrone("help", *words)
        assert answer.returncode == 0, answer.stderr
        assert answer.stdout == isochrone(*words, "--help").stdout
    assert isochrone("help", "shwo").returncode == 2


@pytest.mark.usefixtures("mpich")
def test_the_options_of_an_experiment_come_first_in_its_help(isochrone: Command) -> None:
    """Whoever asks for an experiment wants to know what is special about it."""
    said = isochrone("measure", "collective", "--help").stdout
    places = [said.index(text) for text in
              ("options of collective:", "--root fixed|rotating", "presets of collective:",
               "Options of all experiments: isochrone measure", "examples:")]  # fmt: skip
    assert places == sorted(places)
    assert "latency-map" not in said.partition("examples:")[2]
