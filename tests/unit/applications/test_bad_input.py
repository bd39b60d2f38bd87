"""Bad input is one line that names the path of its key, with exit code 2."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from beds.golden import Golden
from isochrone.applications.description import lowering, reading
from isochrone.base.errors import InputError

GOOD = """
isochrone: app/1
parameters: {n: 64}
apps:
  - name: one
    ranks: 4
    iterations: 10
    phases:
      - compute: 30us
      - allreduce: {bytes: 8}
      - exchange: {topology: pipeline, bytes: 1KiB}
  - name: two
    ranks: 4
    iterations: 10
    phases:
      - exchange: {topology: task-farm, bytes: 1KiB, tasks: 8}
"""

CASES: list[tuple[str, str, str]] = [
    # what is replaced, by what, the path that must be named
    ("compute: 30us", "compute: -30us", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: 30us - 1ms", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: n / (n - 64)", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: 4KiB", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: .nan", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: 1e400", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: 1e400 s", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: n**n**n", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: 30 lightyears", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: m", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: __import__('os').system('true')", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: 2001-01-01", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: true", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: {time: 1us, mode: fast}", "apps[0].phases[0].compute.mode"),
    ("compute: 30us", "compute: {tiem: 1us}", "apps[0].phases[0].compute.tiem"),
    ("compute: 30us", "compute: {time: {normal: {mean: 1us}}}", "compute.time.normal"),
    (
        "compute: 30us",
        "compute: {time: {exponential: {mean: 0s}}}",
        "compute.time.exponential.mean",
    ),
    ("compute: 30us", "compute: {time: {gamma: {shape: -1, scale: 1us}}}", "gamma.shape"),
    ("compute: 30us", "compute: {time: {lognormal: {median: 1us, sigma: 1e9}}}", "sigma"),
    ("compute: 30us", "compute: {time: {poisson: {tasks: 1e300, each: 1ns}}}", "poisson.tasks"),
    ("compute: 30us", "compute: {time: {empirical: []}}", "compute.time.empirical"),
    ("compute: 30us", "compute: 5", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: 2*n", "apps[0].phases[0].compute"),
    ("compute: 30us", "compute: {time: 1us, schedule: [1s]}", "schedule[0]"),
    ("compute: 30us", "repeat: {times: -1, phases: [{compute: 1us}]}", "repeat.times"),
    ("compute: 30us", "repeat: {times: 1e9, phases: [{compute: 1us}]}", "repeat.times"),
    ("compute: 30us", "repeat: {times: 2, phases: []}", "repeat.phases"),
    ("compute: 30us", "repeat: {times: 2, step: p, phases: [{compute: 1us}]}", "repeat.step"),
    ("compute: 30us", "repeat: {times: 2, step: 1, phases: [{compute: 1us}]}", "repeat.step"),
    (
        "compute: 30us",
        "repeat: {times: 2, step: k, phases: [{repeat: {times: 2, step: k, phases: "
        "[{compute: 1us}]}}]}",
        "repeat.phases[0].repeat.step",
    ),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 8, among: {size: 3, stride: 1}}", "among"),
    ("compute: 30us", "compute: {time: {empirical: {1us: 0}}}", "compute.time.empirical"),
    ("compute: 30us", "compute: {time: {empirical: [1us, -1us]}}", "empirical[1]"),
    ("compute: 30us", "compute: {time: 1us, imbalance: -2}", "compute.imbalance"),
    ("compute: 30us", "compute: {time: 1us, imbalance: {7: 2}}", "compute.imbalance.7"),
    ("allreduce: {bytes: 8}", "allreduce: {}", "apps[0].phases[1].allreduce.bytes"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: -8}", "phases[1].allreduce.bytes"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 30us}", "phases[1].allreduce.bytes"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 9EiB}", "phases[1].allreduce.bytes"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 8, grid: 3x4}", "phases[1].allreduce.grid"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 8, grid: round}", "phases[1].allreduce.grid"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 8, root: 1}", "phases[1].allreduce.root"),
    ("allreduce: {bytes: 8}", "bcast: {bytes: 8, root: 4}", "phases[1].bcast.root"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 8, among: [[0, 4]]}", "allreduce.among[0][1]"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 8, among: [[0], [0]]}", "allreduce.among"),
    ("allreduce: {bytes: 8}", "allreduce: {bytes: 8, among: [0]}", "allreduce.among[0]"),
    ("allreduce: {bytes: 8}", "bcast: {bytes: 8, root: 2, among: [[0, 1]]}", "bcast.root"),
    ("allreduce: {bytes: 8}", "allreduc: {bytes: 8}", "apps[0].phases[1].allreduc"),
    ("topology: pipeline", "topology: pipelin", "phases[2].exchange.topology"),
    ("topology: pipeline", "flow: stream", "phases[2].exchange.topology"),
    ("topology: pipeline", "topology: token-ring, flow: stream", "phases[2].exchange.flow"),
    (
        "topology: pipeline",
        "topology: {edges: [[0, 1], [1, 2], [2, 1]]}, flow: stream",
        "phases[2].exchange.flow",
    ),
    ("topology: pipeline", "topology: pipeline, flow: token", "phases[2].exchange.flow"),
    ("topology: pipeline", "topology: pipeline, flow: request", "phases[2].exchange.flow"),
    ("topology: pipeline", "topology: {edges: [[0, 4]]}", "exchange.topology.edges[0]"),
    ("topology: pipeline", "topology: {edges: [[0, -1]]}", "exchange.topology.edges[0]"),
    ("topology: pipeline", "topology: {edges: [[0, 1, 2]]}", "exchange.topology.edges[0]"),
    ("topology: pipeline", "topology: {edges: [[2, 2]]}", "exchange.topology.edges[0]"),
    ("topology: pipeline", "topology: {graphml: no.graphml}", "exchange.topology.graphml"),
    ("topology: pipeline", "topology: {halo: {shape: [3, 4]}}", "topology.halo.shape"),
    ("topology: pipeline", "topology: {halo: {shape: [1, 1, 1, 4]}}", "topology.halo.shape"),
    ("topology: pipeline", "topology: {halo: {periodc: true}}", "topology.halo.periodc"),
    ("topology: pipeline", "topology: {random-regular: {degree: 4}}", "random-regular.degree"),
    ("topology: pipeline", "topology: random-regular", "exchange.topology.degree"),
    (
        "topology: pipeline",
        "topology: {networkx: {generator: read_graphml}}",
        "topology.networkx.generator",
    ),
    (
        "topology: pipeline",
        "topology: {networkx: {generator: cycle_graph, n: 5}}",
        "topology.networkx",
    ),
    (
        "topology: pipeline",
        "topology: {networkx: {generator: cycle_graph, m: 4}}",
        "topology.networkx.m",
    ),
    ("bytes: 1KiB}\n  -", "method: posix-file, bytes: 1}\n  -", "phases[2].exchange.method"),
    ("bytes: 1KiB}\n  -", "method: {mpi-file: ''}, bytes: 1}\n  -", "exchange.method.mpi-file"),
    ("bytes: 1KiB}\n  -", "tasks: 4, bytes: 1}\n  -", "phases[2].exchange.tasks"),
    ("bytes: 1KiB}\n  -", "reply: 4, bytes: 1}\n  -", "phases[2].exchange.reply"),
    ("pipeline, bytes: 1KiB", "pipeline", "apps[0].phases[2].exchange.bytes"),
    ("bytes: 1KiB}\n  -", "starter: {outside: [9]}, bytes: 1}\n  -", "starter.outside[0]"),
    ("tasks: 8", "tasks: 0", "apps[1].phases[0].exchange.tasks"),
    (", tasks: 8", "", "apps[1].phases[0].exchange.tasks"),
    ("name: two", "name: one", "apps[1].name"),
    ("name: two", "name: a b", "apps[1].name"),
    ("name: two", "name: 2", "apps[1].name"),
    ("ranks: 4", "ranks: 0", "apps[0].ranks"),
    ("ranks: 4", "ranks: 2.5", "apps[0].ranks"),
    ("ranks: 4", "ranks: 1000000000", "apps[0].ranks"),
    ("ranks: 4", f"ranks: {'9' * 400}", "apps[0].ranks"),
    ("ranks: 4", "ranks: 100", "apps"),
    ("ranks: 4", "ranks: 14", "apps"),
    ("    ranks: 4\n", "", "apps[0].ranks"),
    ("ranks: 4", "ranks: 2 * p", "apps[0].ranks"),
    ("ranks: 4", "ranks: 2 * m\n    parameters: {m: n/p}", "apps[0].ranks"),
    ("iterations: 10", "iterations: 0", "apps[0].iterations"),
    ("iterations: 10", "iterations: 1000000000", "apps[0].iterations"),
    ("iterations: 10", "iterations: 10\n    place: {ranks: [0, 1]}", "apps[0].place.ranks"),
    ("iterations: 10", "iterations: 10\n    place: {ranks: [0, 1, 2, 0]}", "place.ranks[3]"),
    ("iterations: 10", "iterations: 10\n    place: {ranks: [0, 1, 2, 99]}", "place.ranks[3]"),
    ("iterations: 10", "iterations: 10\n    parameters: {p: 4}", "apps[0].parameters.p"),
    ("{n: 64}", "{n: 1/0}", "parameters.n"),
    ("{n: 64}", "{n: m, m: 1}", "parameters.n"),
    ("{n: 64}", "{n: n}", "parameters.n"),
    ("{n: 64}", "{n-1: 4}", "parameters.n-1"),
    ("{n: 64}", "{n: [1]}", "parameters.n"),
    ("isochrone: app/1", "isochrone: app/2", "isochrone"),
    ("isochrone: app/1", "seed: 1", "isochrone"),
    ("isochrone: app/1", "isochrone: app/1\nsed: 1", "sed"),
    ("isochrone: app/1", "isochrone: app/1\nseed: -1", "seed"),
    ("isochrone: app/1", "isochrone: app/1\nseed: 1.5", "seed"),
    ("isochrone: app/1", "isochrone: app/1\nrepeats: 0", "repeats"),
    ("isochrone: app/1", "isochrone: app/1\nrepeats: 99999", "repeats"),
    ("isochrone: app/1", "isochrone: app/1\nruns: [together]", "runs[0]"),
    ("isochrone: app/1", "isochrone: app/1\nruns: [[one, three]]", "runs[0][1]"),
    ("isochrone: app/1", "isochrone: app/1\nruns: [[one, one]]", "runs[0]"),
    ("isochrone: app/1", "isochrone: app/1\nplace: anywhere", "place"),
]


def refused(path: Path, ranks: int | None = 16) -> InputError:
    """Return the error of a description, which is one line with exit code 2."""
    with pytest.raises(InputError) as caught:
        lowering.program(reading.read(path), ranks)
    error = caught.value
    assert error.exit_code == 2
    assert "\n" not in str(error)
    assert str(error).startswith(str(path))
    return error


def test_the_description_that_is_made_wrong_is_right(tmp_path: Path) -> None:
    """So each case below has one thing that is wrong."""
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    assert lowering.program(reading.read(path), 16).ranks == 8


def test_what_is_wrong_is_named_by_its_path(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The path is that of the key, and ends where the error says what is wrong."""
    for old, new, where in CASES:
        with subtests.test(str((old, new, where))):
            assert old in GOOD
            path = tmp_path / "bad.yaml"
            path.write_text(GOOD.replace(old, new, 1))
            error = refused(path)
            named = error.where.removeprefix(f"{path}: ")
            assert named == where or named.endswith((f".{where}", where)), error


WHOLE_FILES: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "empty"),
    "a comment": ("# nothing\n", "empty"),
    "a list": ("- isochrone: app/1\n", "mapping"),
    "a word": ("app/1\n", "mapping"),
    "a tab": ("isochrone: app/1\napps:\n\t- name: a\n", "blanks"),
    "a key twice": ("isochrone: app/1\nseed: 1\nseed: 2\n", "duplicate"),
    "10 MB": ("#" * 10_000_000, "larger than 1 MiB"),
    "no text": (b"\xff\xfe\x00", "UTF-8"),
    "a tag": ("isochrone: !!python/object/apply:os.system [true]\n", "YAML"),
    "two documents": ("isochrone: app/1\n---\nisochrone: app/1\n", "document"),
    "the file has too many nested lists": ("[" * 1_000_000, "too many nested lists"),
    "lists in lists by dashes": ("- " * 500_000, "too many nested lists"),
    "a list in itself": ("isochrone: &a [*a]\n", "the description has more than"),
    "an endless number": (f"isochrone: {'9' * 5000}\n", "YAML"),
    "a date as key": ("2001-01-01: 1\n", "is not a text"),
}


def test_a_file_that_is_no_description_is_one_line(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Whatever is in it."""
    for name in WHOLE_FILES:
        with subtests.test(str(name)):
            data, expected = WHOLE_FILES[name]
            path = tmp_path / "bad.yaml"
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
            assert expected in str(refused(path))


def test_aliases_of_aliases_do_not_fill_the_memory(tmp_path: Path) -> None:
    """Ten lines can stand for 10^9 values; they are counted with all that they stand for."""
    lines = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]")
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines))
    assert "values" in str(refused(path))


def test_anchors_that_are_there_twice_are_no_warnings(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """The last one counts, as YAML has it; nothing of the file goes to the terminal."""
    path = tmp_path / "twice.yaml"
    path.write_text(GOOD.replace("30us", "&a 30us").replace("bytes: 8}", "bytes: &a 8}"))
    assert lowering.program(reading.read(path), 16).ranks == 8
    assert not recwarn.list


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path, golden: Golden) -> None:
    golden(str(refused(tmp_path / "none.yaml")))


def test_terminal_escapes_in_a_description_are_not_printed(tmp_path: Path) -> None:
    """A key may hold what a terminal obeys."""
    path = tmp_path / "bad.yaml"
    path.write_text('isochrone: app/1\n"\\e[31mred": 1\napps: []\n')
    assert "\x1b" not in str(refused(path))


def test_one_application_has_all_ranks_only_if_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    path.write_text("isochrone: app/1\napps: [{name: a, iterations: 1, phases: [{barrier: }]}]\n")
    assert lowering.program(reading.read(path), 5).ranks == 5
    assert "apps[0].ranks" in str(refused(path, None))


def test_an_outside_starter_needs_a_rank_of_its_own(tmp_path: Path, golden: Golden) -> None:
    """Four ranks and the one that starts them are five."""
    path = tmp_path / "outside.yaml"
    path.write_text(GOOD.replace("topology: pipeline", "topology: pipeline, starter: outside"))
    assert lowering.program(reading.read(path), 9).ranks == 9
    golden(str(refused(path, 8)))


def test_more_steps_than_there_is_room_for_are_refused() -> None:
    """A thousand phases of 60,000 ranks would fill the memory."""
    app = {"name": "a", "iterations": 1, "ranks": 60_000, "phases": [{"compute": "1s"}] * 1000}
    with pytest.raises(InputError, match=r"apps\[0\].phases: .* 60000000 messages"):
        lowering.program(reading.parse({"isochrone": "app/1", "apps": [app]}, "here"))


def test_settings_that_nothing_takes_are_one_line(tmp_path: Path) -> None:
    """--set of an unknown parameter, or of ranks of which application?"""
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    for settings, expected in [
        ({"m": "1"}, "there is no parameter 'm'"),
        ({"p": "2"}, "several applications"),
        ({"three.p": "2"}, "there is no application 'three'"),
        ({"one.n": "2"}, "there is no parameter 'n'"),
        ({"n": "1/0"}, "the expression divides by zero"),
    ]:
        with pytest.raises(InputError) as caught:
            lowering.program(reading.read(path, settings))
        assert expected in str(caught.value)


def test_reading_does_not_change_the_document() -> None:
    """Settings are put into a copy."""
    document: dict[str, Any] = {
        "isochrone": "app/1",
        "parameters": {"n": 1},
        "apps": [{"name": "a", "iterations": 1, "phases": [{"compute": "n * 1us"}]}],
    }
    before = copy.deepcopy(document)
    found = reading.parse(document, "here", {"n": "2", "p": "3"})
    assert document == before
    assert reading.as_document(found)["parameters"] == {"n": "2"}
    assert lowering.program(found).values == ((2e-6,),)
    assert lowering.program(found).ranks == 3
