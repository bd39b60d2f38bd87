"""What was mistyped is answered by what was probably meant, and help is found by its name."""

from __future__ import annotations

import shlex
from pathlib import Path

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


OTHERS = """
fit sizes.jsonl --model hockney | --family
latency-map -n 2 | isochrone measure latency-map
run -- mpiexec -n 2 ./a.out | record
measure allreduce -n 2 | collective --op allreduce
measure collective -n 2 --ops allreduce | --op
measure point-to-point -n 2 --size 1K:1M | --bytes
measure latency-map -np 2 --dry-run | -n
measure latency-map -n 2 --iterations 10 | --repeats
measure latency-map -n 2 -i 10 | --repeats
compare c.jsonl c.jsonl --threshold 5 | --margin
predict message --model model.json --size 1MiB | --bytes
show map.jsonl --format json | --json
export map.jsonl --to json | isochrone show --json
version | --version
all_reduce_perf -n 2 | measure collective --op allreduce
measure latency map -n 2 | latency-map
measure collective allreduce -n 2 | --op allreduce
measure collective bcast,allreduce -n 2 | --op bcast,allreduce
measure point-to-point -n 2 --bytes 1 1024 4096 | --bytes 1,1024,4096
measure point-to-point -n 2 64KiB | --bytes 64KiB
measure point-to-point -n 2 --nonblocking | --mode nonblocking
measure aggregators | isochrone place aggregators
measure collective -n 2 --json | isochrone show --json
show a.jsonl --title T | isochrone plot --title
show a.jsonl --heatmap | isochrone plot --view heatmap
explain a.jsonl | isochrone fit --explain
predict-collective | isochrone predict collective
suite quick 2m | --budget 2m
suite --predict 'allreduce at 4096' | --for
plot a.jsonl b.png | -o b.png
scale 2,4 --to 8 -- ./app | -n 2,4
record --io -- mpiexec -n 2 ./app | --collective-io
export a.jsonl csv | --to csv
osu_allreduce -n 4 | measure collective --op allreduce --type char
measure osu_latency -n 2 | point-to-point
measure osu_allreduce -n 2 | collective --op allreduce --type char
measure pingpong -n 2 | point-to-point
measure PingPong -n 2 | point-to-point
measure bw -n 2 | point-to-point
measure alltoall -n 2 | collective --op alltoall
measure map -n 2 | latency-map
measure linktest -n 2 | latency-map
measure point-to-point -n 2 -m 1:1024 | --bytes
measure point-to-point -n 2 --message-size 1K | --bytes
measure point-to-point -n 2 --min-msg-size 8 | --bytes
measure point-to-point -n 2 -msglen 8 | --bytes
measure point-to-point -n 2 -x 10 | --warmup
measure point-to-point -n 2 --warmup-iterations 10 | --warmup
measure point-to-point -n 2 --runs 10 | --repeats
measure point-to-point -n 2 -r 10 | --repeats
measure point-to-point -n 2 --loops 10 | --repeats
measure collective -n 2 --operation bcast | --op
measure latency-map --ntasks 2 | -n
measure latency-map --np 2 | -n
measure latency-map -c 2 | -n
measure latency-map -n 2 --output-file a.jsonl | --output
measure latency-map -n 2 --export-json a.jsonl | --output
measure latency-map -n 2 --num-warmup 3 | --warmup
measure latency-map -n 2 --timeout 10 | --time-limit
measure latency-map -n 2 --hostfile hosts | --launcher-arg=--hostfile
bench latency-map -n 2 | isochrone measure latency-map
bench -n 2 | measure
diff a.jsonl b.jsonl | compare
view map.jsonl | show
html map.jsonl | report
model sizes.jsonl | fit
trace -- mpiexec -n 2 ./a.out | record
compare map.jsonl map.jsonl --tolerance 5 | --margin
fit sizes.jsonl --formula hockney | --family
plot map.jsonl --kind heatmap -o x.png | --view
export map.jsonl --format csv | --to
check map.jsonl --reference nights | --baseline
measure point-to-point -n 2 --mode bibw | bidirectional
measure collective -n 2 --op ibcast | bcast --form nonblocking
measure point-to-point -n 2 -d cuda | --memory
measure latency-map -n 2 --ppn 2 | --launcher-arg=--ppn
measure latency-map -n 2 --csv | isochrone export --to csv
check map.jsonl --slower-than 1.5 | --threshold
compare a.jsonl b.jsonl --html ab.html | --output
plot map.jsonl --heatmap | --view heatmap
plot map.jsonl --kind heatmap | --view
fit sizes.csv --term log | --family
tune io ./a.out | collective-io
tune aggregators | isochrone place aggregators
place hosts map.jsonl | nodes
baseline create nights map.jsonl | add
suite --quick | isochrone suite quick
measure --list | --help
measure latency-map -n 2 -host a,b | --launcher-arg=-host
measure latency-map -n 2 --hosts-file a | --launcher-arg=-hostfile
measure latency-map -n 2 --plot | isochrone plot
measure latency-map -n 2 --export-csv a.csv | isochrone export --to csv
measure collective -n 2 --op reduce -T mpi_float | --type
fit sizes.csv --x p | --map-columns
plot sizes.csv --x p -o a.png | --across
plot sizes.csv --logy -o a.png | --scale
demo --fast | isochrone suite quick
describe map.jsonl | show
to_csv map.jsonl | export --to csv
export map.jsonl --to excel | csv
"""
"""What users of OSU, IMB, mpirun, LinkTest, hyperfine and Extra-P type, and our name of it."""


@pytest.mark.usefixtures("mpich")
def test_words_of_other_programs_are_understood(
    isochrone: Command, subtests: pytest.Subtests
) -> None:
    """By meaning: `--size` is alike `--stride`, but means `--bytes`."""
    for row in OTHERS.strip().splitlines():
        typed, _, meant = row.partition(" | ")
        with subtests.test(typed):
            answer = isochrone(*shlex.split(typed))
            assert answer.returncode == 2
            assert f"'{meant}'" in answer.stderr
            assert answer.stderr.count("\n") == 1


ADVICE = """
compare a.jsonl b.jsonl --alpha 0.05 | 95 %
config set mpicc a | config.toml
measure point-to-point -n 2 --bytes 8-1024 | 1:1MiB:x2
measure point-to-point -n 2 --bytes 8:1024 | 1:1MiB:x2
measure latency-map -n 2 --pin-processes | taskset
measure latency-map -n 2 --hint=a | --launcher-arg=--hint
history nights more | FOLDER
completion --shell bash | SHELL
completion | zsh
tune program -n 2 ./app | -- mpiexec -n 2 ./app
record -- mpiexec -n 2 ./nothere | ./nothere
measure synthetic -n 1 -o a.csv | a.jsonl
platform node:4 -o a.xml | nodes
"""
"""What has no name here, and a word of what is said instead."""


@pytest.mark.usefixtures("mpich")
def test_what_has_no_name_here_is_answered_by_what_to_do(
    isochrone: Command, subtests: pytest.Subtests
) -> None:
    for row in ADVICE.strip().splitlines():
        typed, _, advice = row.partition(" | ")
        with subtests.test(typed):
            answer = isochrone(*typed.split())
            assert answer.returncode == 2
            assert advice in answer.stderr
            assert answer.stderr.count("\n") == 1


def test_a_program_that_does_not_exist_is_started_on_no_rank(
    isochrone: Command, tmp_path: Path
) -> None:
    answer = isochrone("scale", "-n", "2,4", "--to", 512, "--", "./nothere", cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1


def test_options_and_folders_in_the_wrong_place_are_put_right(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    (tmp_path / "map.jsonl").touch()
    for typed in (
        "-n 4 measure latency-map",
        "--json show map.jsonl",
        "predict --model m.json",
        "tune -- mpiexec ./app",
        "baseline add map.jsonl nights",
        "--verison",
        "measure -n 2",
        "show",
        "import osu.txt --format osu",
        "predict sizes.csv 1024",
        "import map.jsonl",
    ):
        answer = isochrone(*typed.split(), cwd=tmp_path)
        assert answer.returncode == 2
        golden(answer.stderr, typed)
        assert answer.stderr.count("\n") == 1


def test_a_file_tells_which_command_takes_it(isochrone: Command, tmp_path: Path) -> None:
    """Also a missing one whose name is alike that of another."""
    (tmp_path / "app.yaml").write_text("isochrone: app/1\n")
    (tmp_path / "m.json").write_text('{"record":"model"}\n')
    (tmp_path / "map.jsonl").write_text('{"record":"header"}\n')
    (tmp_path / "prog").write_bytes(b"\x7fELF")
    (tmp_path / "nights").mkdir()
    for typed, meant in {
        "show app.yaml": "isochrone emulate",
        "measure app.yaml": "isochrone emulate",
        "./prog": "isochrone record",
        "map.jsonl": "isochrone show map.jsonl",
        "emulate map.jsonl": "isochrone show map.jsonl",
        "predict message m.json": "--model m.json",
        "show map.json": "map.jsonl",
        "report page.html": "-o page.html",
        "check map.jsonl --baseline night": "nights",
    }.items():
        answer = isochrone(*typed.split(), cwd=tmp_path)
        assert answer.returncode == 2, typed
        assert meant in answer.stderr, typed
        assert answer.stderr.count("\n") == 1, typed


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
    places = [
        said.index(text)
        for text in (
            "options of collective:",
            "--root fixed|rotating",
            "presets of collective:",
            "Options of all experiments: isochrone measure",
            "examples:",
        )
    ]
    assert places == sorted(places)
    assert "latency-map" not in said.partition("examples:")[2]
