"""What every import and export format promises; a new format is tested by being there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.command_line import run_here
from beds.golden import Golden
from isochrone.base import registry
from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.base.files import sha256
from isochrone.formats import exporter as exporters
from isochrone.runfile import any_file
from isochrone.runfile import file as runs
from isochrone.runfile import importer as importers
from isochrone.runfile.importer import Wanted
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves
from made_up import sweeps
from made_up.latency_maps import latency_map

EXPORTERS = exporters.names()
IMPORTERS = importers.names()
FROM_MAP = [n for n in EXPORTERS if "latency-map" in exporters.load(n).holds]
OF_PAIRS = [n for n in EXPORTERS if exporters.load(n).of_pairs]
FROM_SWEEP = [n for n in EXPORTERS if "sweep" in exporters.load(n).holds and n not in OF_PAIRS]
TO_MAP = [n for n in IMPORTERS if importers.load(n).holds == "latency-map"]
TO_SWEEP = [n for n in IMPORTERS if importers.load(n).holds == "sweep"]
BOTH = sorted(set(FROM_MAP) & set(TO_MAP))
BOTH_SWEEP = sorted(set(FROM_SWEEP) & set(TO_SWEEP))
IN_LOGS = [n for n in IMPORTERS if importers.load(n).tables]
RANKS = Wanted(ranks=8)
HOSTS = ["n1", "n1", "n2", "n1", "n3"]

PRINTED_SECONDS = {"mmpi": 0.005e-6}
"""Half the last digit of the formats that round; the others keep all digits."""


MAPS = {
    "whole": latency_map(HOSTS),
    "partial": latency_map(HOSTS, missing=lambda i, j: (i, j) >= (1, 4)),
}
FEW = (8, 64, 4096)
SWEEPS = {
    "point-to-point": sweeps.point_to_point(sizes=(0, *FEW), repeats=5),
    "several pairs": sweeps.point_to_point(sizes=FEW, repeats=5, pairs=((0, 1), (2, 3))),
    "window": sweeps.point_to_point(sizes=FEW, repeats=5, window=64),
    "both directions": sweeps.point_to_point(sizes=FEW, repeats=5, mode="bidirectional"),
    "put": sweeps.point_to_point(sizes=FEW, repeats=5, mode="put"),
    "bisection": sweeps.bisection(9, sizes=FEW, repeats=5),
    "collective": sweeps.collective(("bcast", "alltoall", "barrier"), sizes=FEW, repeats=5),
    "barrier": sweeps.collective(("barrier",), repeats=5),
    "forms": sweeps.collective(("ibcast", "alltoall_persistent"), sizes=FEW, repeats=5),
    "partial": sweeps.point_to_point(sizes=FEW, repeats=1, complete=False),
}


@pytest.fixture(params=MAPS)
def run(request: pytest.FixtureRequest) -> Run:
    return MAPS[request.param]


def export(run: Run, name: str, folder: Path, **options: int) -> Path:
    module = exporters.load(name)
    path = folder / f"map{module.suffix}"
    module.write(run, path, **options)
    return path


def there_and_back(run: Run, name: str, folder: Path) -> Run:
    back = importers.load(name).read(export(run, name, folder))
    assert isinstance(back, Run)
    return back


def test_the_formats_of_the_issue_are_there() -> None:
    """Export and import know the mmpi log, MATLAB, CSV and NumPy, in both directions."""
    assert {"mmpi", "matlab", "csv", "npz"} <= set(BOTH)
    assert {"osu"} <= set(BOTH_SWEEP)
    assert {"gnuplot", "csv"} <= set(FROM_SWEEP)
    assert {"imb"} <= set(TO_SWEEP)


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_exporter_says_what_it_holds_and_refuses_the_rest(
    name: str, tmp_path: Path, golden: Golden
) -> None:
    """A map is not a sweep: one line that says so, and no file."""
    holds = set(exporters.load(name).holds)
    assert holds
    assert holds <= {"latency-map", "sweep", "hotspot", "tile-io", "clocks", "emulation"}
    if "latency-map" not in holds:
        with golden.refusal():
            export(MAPS["whole"], name, tmp_path)
    if "sweep" not in holds:
        with pytest.raises(InputError, match="no pairs"):
            export(SWEEPS["point-to-point"], name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", OF_PAIRS)
@pytest.mark.parametrize("of", ["window", "both directions", "put", "bisection", "collective"])
def test_an_exporter_of_messages_refuses_sweeps_of_anything_else(
    name: str, of: str, tmp_path: Path, golden: Golden
) -> None:
    with golden.refusal():
        export(SWEEPS[of], name, tmp_path)
    assert list(tmp_path.iterdir()) == []
    path = export(SWEEPS["point-to-point"], name, tmp_path)
    assert sorted(tmp_path.iterdir()) == written(name, path)


@pytest.mark.parametrize("family", ["formats.exporters", "formats.importers"])
def test_every_format_says_what_it_is_in_its_first_line(family: str) -> None:
    """The list of formats in the help is made of these lines."""
    for name in registry.names(family):
        first = (registry.load(family, name).__doc__ or "").splitlines()[0]
        assert first.endswith(".")
        assert len(first) <= 100


def test_every_exporter_writes_one_file_and_leaves_nothing_else(
    run: Run, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """A whole and a partial map can be exported, without any temporary file staying behind."""
    for name in FROM_MAP:
        with subtests.test(str(name)):
            (folder := tmp_path / name).mkdir()
            path = export(run, name, folder)
            assert path.suffix.startswith(".")
            assert path.stat().st_size > 0
            assert list(folder.iterdir()) == [path]


@pytest.mark.parametrize("name", FROM_MAP)
def test_every_exporter_leaves_its_run_as_it_was(name: str, tmp_path: Path) -> None:
    """Exporting twice, or exporting and then plotting, sees the same numbers."""
    run = latency_map(HOSTS)
    before = list(run.pairs().rows())
    export(run, name, tmp_path)
    assert list(run.pairs().rows()) == before


@pytest.mark.parametrize("name", FROM_MAP)
def test_a_failed_export_leaves_the_old_file_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file appears whole or not at all, even if the disk is full or the user presses Ctrl-C."""
    path = export(MAPS["whole"], name, tmp_path)
    before = path.read_bytes()

    def stop(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        export(MAPS["partial"], name, tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", FROM_MAP)
def test_what_cannot_be_exported_gives_one_line(name: str, tmp_path: Path, golden: Golden) -> None:
    """Wrong size, no pairs, no such folder: an InputError each, and no file."""
    whole = MAPS["whole"]
    with golden.refusal():
        export(whole, name, tmp_path, nbytes=65)
    with golden.refusal():
        export(Run(header={"ranks": 4}), name, tmp_path)
    with golden.refusal():
        export(whole, name, tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FROM_MAP)
def test_the_size_asked_for_is_exported(name: str, tmp_path: Path) -> None:
    """Of a map of several sizes, the user gets the one that was named."""
    run = latency_map(HOSTS, nbytes=(64, 4096))
    one = export(run, name, tmp_path, nbytes=4096)
    if name in TO_MAP:
        back = importers.load(name).read(one)
        assert back.message_sizes() == [4096]
        tolerance = PRINTED_SECONDS.get(name, 0) + 1e-18
        expected = run.matrix("mean", 4096)
        np.testing.assert_allclose(back.matrix("mean"), expected, rtol=1e-14, atol=tolerance)


@pytest.mark.parametrize("name", FROM_MAP)
def test_hostile_host_names_do_no_harm(name: str, tmp_path: Path) -> None:
    """A host name is text from elsewhere: it cannot break the file or be lost in it."""
    hosts = ["=cmd|' /C calc'!A0", 'a,b;"c"', "two words\n# three", "\x1b[31m", "#", "ü😀"]
    run = latency_map(hosts)
    path = export(run, name, tmp_path)
    if name in TO_MAP:
        back = importers.load(name).read(path)
        assert len({rank.node for rank in back.ranks}) == len(hosts)
        np.testing.assert_allclose(
            back.matrix("mean"), run.matrix("mean"), atol=PRINTED_SECONDS.get(name, 1e-18)
        )


@pytest.mark.parametrize("name", BOTH)
def test_import_of_export_is_the_same_to_the_printed_digits(
    name: str, run: Run, tmp_path: Path
) -> None:
    """Nothing that a format holds changes on the way out and in again."""
    back = there_and_back(run, name, tmp_path)
    tolerance = PRINTED_SECONDS.get(name, 0) * (1 + 1e-9)
    for what in ("mean", "stddev"):
        np.testing.assert_allclose(
            back.matrix(what), run.matrix(what), rtol=1e-14, atol=tolerance, equal_nan=True
        )
    assert back.hosts == run.hosts
    assert [rank.node for rank in back.ranks] == [rank.node for rank in run.ranks]
    assert back.message_sizes() == [64]
    assert back.complete == run.complete


@pytest.mark.parametrize("name", BOTH)
def test_a_second_round_trip_changes_nothing_at_all(name: str, run: Run, tmp_path: Path) -> None:
    """Once rounded to a format's digits, a map stays put: export(import(file)) is the file."""
    once = there_and_back(run, name, tmp_path)
    twice = there_and_back(once, name, tmp_path)
    for what in ("mean", "stddev"):
        np.testing.assert_allclose(twice.matrix(what), once.matrix(what), rtol=1e-15)
    assert twice.hosts == once.hosts
    assert [w["code"] for w in twice.warnings] == [w["code"] for w in once.warnings]


@pytest.mark.parametrize("name", BOTH)
def test_medians_come_back_or_are_said_to_be_unknown(name: str, tmp_path: Path) -> None:
    """A format without medians never passes the mean off as the median silently."""
    run = MAPS["whole"]
    back = there_and_back(run, name, tmp_path)
    stands_in = "median-is-mean" in [warning["code"] for warning in back.warnings]
    assert bool(back.header.get("median_is_mean")) == stands_in
    same = back if stands_in else run
    expected = same.matrix("mean" if stands_in else "median")
    np.testing.assert_allclose(back.matrix("median"), expected, rtol=1e-14)


@pytest.mark.parametrize("name", BOTH)
def test_a_mean_in_disguise_is_not_exported_as_a_median(name: str, tmp_path: Path) -> None:
    """After log -> run -> other format -> run, it is still known that there were no medians."""
    run = latency_map(HOSTS)
    run.tables["pair"].columns["median"] = run.pairs()["mean"]
    run.header["median_is_mean"] = True
    assert there_and_back(run, name, tmp_path).header["median_is_mean"] is True


@pytest.mark.parametrize("name", BOTH)
def test_a_partial_map_warns_of_the_missing_pairs(
    name: str, tmp_path: Path, golden: Golden
) -> None:
    """Whoever imports half a map is told, and sees how many ranks it was meant to have."""
    back = there_and_back(MAPS["partial"], name, tmp_path)
    assert back.size == len(HOSTS)
    texts = {warning["code"]: warning["text"] for warning in back.warnings}
    golden(texts["missing-pairs"])


@pytest.mark.parametrize("name", BOTH)
def test_an_imported_run_is_a_valid_run_file(name: str, run: Run, tmp_path: Path) -> None:
    """What was imported can be saved, read again, and says which file it was made from."""
    path = export(run, name, tmp_path)
    back = importers.load(name).read(path)
    runs.write(back, tmp_path / "map.jsonl")
    again = runs.read(tmp_path / "map.jsonl")
    np.testing.assert_array_equal(again.matrix(), back.matrix())
    assert again.experiment == "latency-map"
    assert again.header["imported"] == {
        "format": name,
        "path": str(path),
        "sha256": sha256(path),
    }


def written(name: str, path: Path) -> list[Path]:
    """Return the files that an exporter writes."""
    beside = exporters.load(name).beside
    return sorted([path, *(path.with_suffix(suffix) for suffix in beside)])


@pytest.mark.parametrize("of", SWEEPS)
@pytest.mark.parametrize("name", FROM_SWEEP)
def test_a_sweep_is_exported_whole_and_left_as_it_was(name: str, of: str, tmp_path: Path) -> None:
    """Each kind of sweep gives the files the format promises, and nothing else."""
    run = SWEEPS[of]
    before = plain(curves(run))
    path = export(run, name, tmp_path)
    assert sorted(tmp_path.iterdir()) == written(name, path)
    assert all(file.stat().st_size > 0 for file in tmp_path.iterdir())
    assert plain(curves(run)) == before


@pytest.mark.parametrize("name", FROM_SWEEP)
def test_a_failed_export_of_a_sweep_leaves_the_old_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = export(SWEEPS["point-to-point"], name, tmp_path)
    before = [file.read_bytes() for file in written(name, path)]

    def stop(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        export(SWEEPS["collective"], name, tmp_path)
    assert [file.read_bytes() for file in written(name, path)] == before
    assert sorted(tmp_path.iterdir()) == written(name, path)


@pytest.mark.parametrize("name", FROM_SWEEP)
def test_what_cannot_be_exported_of_a_sweep_gives_one_line(
    name: str, tmp_path: Path, golden: Golden
) -> None:
    with golden.refusal():
        export(SWEEPS["window"], name, tmp_path, nbytes=65)
    with pytest.raises(InputError, match="no samples"):
        export(Run(header={"ranks": 4, "experiment": "collective"}), name, tmp_path)
    with golden.refusal():
        export(SWEEPS["window"], name, tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []
    one = export(SWEEPS["window"], name, tmp_path, nbytes=64).read_bytes()
    assert b"4096" not in one


@pytest.mark.parametrize("of", [name for name in SWEEPS if name not in ("several pairs",)])
@pytest.mark.parametrize("name", BOTH_SWEEP)
def test_a_sweep_comes_back_to_the_printed_digits(name: str, of: str, tmp_path: Path) -> None:
    """What the format holds (means, in µs or MB/s) is the same on the way out and in again."""
    run = SWEEPS[of]
    back = importers.load(name).read(export(run, name, tmp_path))
    assert back.experiment == run.experiment
    # a file of OSU knows neither which two ranks a pair was, nor of ranks that sat out
    there = {c.key.get("op"): c for c in curves(run)}
    for curve in curves(back):
        before = {p.bytes: p for p in there.pop(curve.key.get("op")).points}
        for point in curve.points:
            old = before[point.bytes]
            if of in ("window", "both directions"):
                assert point.bandwidth == pytest.approx(old.mean_bandwidth, rel=1e-3)
            else:
                mean = old.mean if old.rank_mean is None else old.rank_mean
                assert point.median == pytest.approx(mean, abs=0.0051e-6)
    assert not there


@pytest.mark.parametrize("name", TO_SWEEP)
def test_an_imported_sweep_is_a_valid_run_file(name: str, tmp_path: Path) -> None:
    """Each golden file can be saved, read again, and says where it comes from."""
    golden = samples(name)
    importer = importers.load(name)
    options = {"ranks": 8} if importer.takes_ranks else {}
    assert golden
    for path in golden:
        for back in importer.all_runs(path, Wanted(**options)):
            runs.write(back, tmp_path / "a.jsonl", overwrite=True)
            again = runs.read(tmp_path / "a.jsonl")
            assert plain(curves(again)) == plain(curves(back))
            assert again.origin == "imported"
            assert again.header["imported"]["sha256"] == sha256(path)


def samples(name: str) -> list[Path]:
    return sorted((Path(__file__).parents[1] / "golden" / name).iterdir())


COMMANDS = (
    "show {file} --ranks 8",
    "show {file} --ranks 8 --json",
    "compare {file} {file} --ranks 8",
    "export {file} --to csv --ranks 8 -o {out}.csv",
    "import {file} --from {name} --ranks 8 -o {out}.jsonl",
    "report {file} --ranks 8 -o {out}.html",
    "plot {file} --ranks 8 -o {out}.svg",
)
"""Of a sample with several tests, `export` needs one."""


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_LOGS)
def test_every_command_reads_every_sample(
    name: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for number, file in enumerate(samples(name)):
        tests = [any_file.tests_of(run) for run in importers.load(name).all_runs(file, RANKS)]
        for command in COMMANDS:
            words = command.format(file=file, name=name, out=tmp_path / f"{number}").split()
            with subtests.test(f"{file.name}: {words[0]}"):
                answer = run_here(*words, cwd=tmp_path)
                assert "Traceback" not in answer.stderr
                one_of_several = words[0] == "export" and len(tests) > 1
                assert answer.returncode == (2 if one_of_several else 0), answer.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_LOGS)
def test_a_damaged_sample_gives_runs_or_one_line(name: str, tmp_path: Path) -> None:
    """Lost, doubled and exchanged lines and wrong bytes end in no traceback and no invalid run."""
    dice = np.random.default_rng(5)
    importer, path = importers.load(name), tmp_path / "log.txt"
    for file in samples(name):
        lines = file.read_bytes().splitlines(keepends=True)
        for _ in range(60):
            kept = [lines[k] for k in dice.integers(0, len(lines), len(lines))]
            broken = bytearray(b"".join(kept if dice.random() < 0.5 else lines))
            for at in dice.integers(0, len(broken), 3):
                broken[at] = int(dice.integers(0, 256))
            path.write_bytes(broken[: int(dice.integers(1, 2 * len(broken)))])
            try:
                found = importer.all_runs(path, RANKS)
            except InputError as error:
                assert "\n" not in str(error)
                continue
            for back in found:
                runs.write(back, tmp_path / "a.jsonl", overwrite=True)
                assert curves(runs.read(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("name", IMPORTERS)
@pytest.mark.parametrize("data", [b"", b"\0" * 200, b"PK\x03\x04" + b"x" * 200, b"\xff\xfe1\n2,3"])
def test_what_is_not_of_the_format_gives_one_line(name: str, data: bytes, tmp_path: Path) -> None:
    """The wrong --from is an everyday mistake: one line, no traceback."""
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        importers.load(name).read(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", IMPORTERS)
def test_a_file_that_cannot_be_opened_gives_one_line(
    name: str, tmp_path: Path, golden: Golden
) -> None:
    """A missing file or a folder is the user's mistake, not a traceback."""
    for path in (tmp_path, tmp_path / "nothing"):
        with golden.refusal():
            importers.load(name).read(path)


@pytest.mark.parametrize("name", BOTH)
def test_a_damaged_file_gives_a_run_or_one_line(name: str, tmp_path: Path) -> None:
    """Flipped and lost bytes never end in a traceback, whatever the library under it raises."""
    path = export(MAPS["whole"], name, tmp_path)
    data = path.read_bytes()
    dice = np.random.default_rng(3)
    read = importers.load(name).read
    for _ in range(200):
        broken = bytearray(data)
        for at in dice.integers(0, len(data), 3):
            broken[at] = int(dice.integers(0, 256))
        path.write_bytes(broken[: int(dice.integers(len(data) // 2, 2 * len(data)))])
        try:
            back = read(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            runs.write(back, tmp_path / "map.jsonl", overwrite=True)
            runs.read(tmp_path / "map.jsonl")
