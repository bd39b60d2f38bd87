"""The probe as a program by itself: help without MPI, one line for wrong use, no file lost."""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path

import pytest

import isochrone
from beds.golden import Golden
from beds.mpis import ROOT, Mpi
from isochrone.base.errors import InputError
from isochrone.base.units import parse_percent, parse_seconds
from isochrone.measure import sources


def ask(mpi: Mpi, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the probe alone, without a launcher."""
    return subprocess.run(
        [mpi.probe.path, *options], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.smoke
def test_help_needs_no_mpi_job(every_mpi: Mpi) -> None:
    """MPI_Init in a process without a launcher takes long or fails on some machines."""
    answer = ask(every_mpi, "--help")
    assert answer.returncode == 0
    assert "latency-map" in answer.stdout
    assert "--precision" in ask(every_mpi, "latency-map", "--help").stdout


def test_help_lists_one_experiment_for_each_file_or_folder(mpich: Mpi) -> None:
    """The command line and the program list the same ones, and none that does not exist."""
    files = {f.stem.replace("_", "-") for f in (ROOT / "probe/experiments").iterdir()}
    listed = ask(mpich, "--help").stdout.partition("experiments:\n")[2].partition("\n\n")[0]
    assert {line.split()[0] for line in listed.splitlines()} == files == {*sources.experiments()}


@pytest.mark.parametrize(
    ("percent", "time"),
    [
        ("5%", "300"),
        ("5 %", "300s"),
        ("0.05", "5m"),
        ("150%", "10min"),
        ("0", "200ms"),
        ("1e-2", "50us"),
    ],
)
def test_percentages_and_durations_mean_what_they_mean_to_python(
    mpich: Mpi, percent: str, time: str
) -> None:
    words = ("--shape", "2", "--repeats", "1", "--noise", percent, "--latency", time)
    answer = ask(mpich, "synthetic", *words)
    options = json.loads(answer.stdout.splitlines()[0])["options"]
    assert options["noise"] == pytest.approx(parse_percent(percent))
    assert options["latency"] == pytest.approx(parse_seconds(time))


@pytest.mark.parametrize("text", ["5", "-5%", "%", "5%%", "five", "nan", "inf%"])
def test_what_is_no_percentage_to_python_is_none_to_the_probe(mpich: Mpi, text: str) -> None:
    with pytest.raises(InputError):
        parse_percent(text)
    assert ask(mpich, "synthetic", f"--noise={text}", "--check", "2").returncode == 2


def test_options_of_experiments_are_explained_in_two_lines(mpich: Mpi) -> None:
    for one in mpich.probe.experiments.values():
        for option in one.options:
            lines = textwrap.wrap(option.words, 70, break_on_hyphens=False)
            most = 6 if "some of:" in option.words else 3 if option.choices else 2
            assert len(lines) <= most, option
            assert option.value not in ("SECONDS", "FRACTION", "T"), option


def test_the_probe_has_the_version_of_the_package(mpich: Mpi) -> None:
    assert ask(mpich, "--version").stdout.split()[1] == isochrone.__version__


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["no-such-thing"], "there is no experiment 'no-such-thing'"),
        (["latency-map", "--bytes", "many"], "'many' is not a message size"),
        (["latency-map", "--bytes", "-1"], "'-1' is not a message size"),
        (["latency-map", "--bytes", "3GiB"], "2 GiB or more"),
        (["latency-map", "--bytes", "1.5"], "not a whole number of bytes"),
        (["latency-map", "--bytes", "64,,1KiB"], "is not a message size"),
        (["latency-map", "--bytes", "64,64"], "given twice"),
        (["latency-map", "--bytes"], "--bytes needs a value"),
        (["latency-map", "--schedule", "random"], "not one of isolated|rounds|serial"),
        (["latency-map", "--repeats", "ten"], "not a whole number"),
        (["latency-map", "--repeats", "5", "--precision", "0.1"], "cannot be combined"),
        (["latency-map", "--precision", "2"], "write 2%"),
        (["latency-map", "--precision", "nan"], "not a percentage"),
        (["latency-map", "--min-repeats", "9", "--max-repeats", "3"], "--min-repeats"),
        (["latency-map", "--speed", "9"], "there is no option '--speed'"),
        (["latency-map", "map.jsonl"], "is not an option"),
        (["latency-map", "--inner-parallel=yes"], "takes no value"),
        (["latency-map", "--pairs", "0-1", "--sample", "5%"], "excludes"),
        (["latency-map", "--one-way", "--mode", "put"], "--one-way"),
        (["latency-map", "--one-way", "--mode", "bandwidth"], "--one-way"),
        (["latency-map", "--mode", "compare_and_swap", "--bytes", "64"], "8 bytes"),
        (["latency-map", "--note", "nothing"], "KEY=VALUE"),
        (["clock-sync", "--clock-tolerance", "0"], "must be above 0"),
        (["clock-sync", "--sync-age", "-1"], "not a time such as 300"),
        (["clock-sync", "--sync-exchanges", "0"], "must be above 0"),
        (["clock-sync", "--skew", "1e6"], "a clock cannot run backwards"),
        (["clock-sync", "--seconds", "1e10"], "must not be above 1e9"),
        (["synthetic", "--shape", "4,0"], "not a list of whole numbers"),
        (["synthetic", "--shape", "1000,1000,1000"], "--shape takes"),
        (["synthetic", "--slow-pair", "3"], "not two ranks"),
        (["synthetic", "--bandwidth", "0"], "--bandwidth must be above 0"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    mpich: Mpi, options: list[str], complaint: str
) -> None:
    answer = ask(mpich, *options, *(["--check", "4"] if len(options) > 1 else []))
    assert answer.returncode == 2
    assert complaint in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""


@pytest.mark.parametrize("experiment", ["synthetic", "latency-map"])
def test_to_check_for_no_ranks_is_refused_and_measures_nothing(
    mpich: Mpi, experiment: str, golden: Golden
) -> None:
    """0 was taken for "not given", and the measurement began."""
    answer = ask(mpich, experiment, "--check", "0")
    assert answer.returncode == 2
    golden.measured(answer.stderr)
    assert answer.stdout == ""


def test_a_rank_alone_has_nobody_to_measure_with(mpich: Mpi, golden: Golden) -> None:
    for options in (["--check", "1"], []):
        answer = ask(mpich, "latency-map", *options)
        assert answer.returncode == 2
        golden.measured(answer.stderr)


def test_a_run_file_is_not_overwritten(mpich: Mpi, tmp_path: Path, golden: Golden) -> None:
    out = tmp_path / "precious.jsonl"
    out.write_text("precious")
    answer = ask(mpich, "synthetic", "--out", str(out))
    assert answer.returncode == 2
    golden.measured(answer.stderr)
    assert out.read_text() == "precious"
    assert ask(mpich, "synthetic", "--out", str(out), "--force").returncode == 0
    assert "precious" not in out.read_text()


def test_a_disk_that_is_full_is_a_failed_measurement(mpich: Mpi, golden: Golden) -> None:
    answer = ask(mpich, "synthetic", "--shape", "4,4", "--out", "/dev/full", "--force")
    assert answer.returncode not in (0, 2)
    golden.measured(answer.stderr)


def test_standard_output_is_a_run_file_of_strict_json(mpich: Mpi) -> None:
    """Notes come from elsewhere; whatever they hold, the file stays JSON."""
    note = 'who="quoted" \\ \t é \x1b[31m'
    answer = ask(mpich, "synthetic", "--shape", "2,1", "--note", note)
    records = [json.loads(line) for line in answer.stdout.splitlines()]
    assert records[0]["notes"]["who"] == note.removeprefix("who=")
    assert [r["record"] for r in records] == ["run", "rank", "rank", "pair", "end"]
