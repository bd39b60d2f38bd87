"""Tuning files of MPI libraries, as text: what their readers want, and for whom they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.collectives import tuning_file as tunings
from isochrone.collectives.tuning_file import LibraryRule
from isochrone.formats.tunings.mpich import built_in

RULES = [
    LibraryRule("bcast", 8, (1024, 16384), "binomial", 1024),
    LibraryRule("bcast", 8, (16385, 65536), "chain", 65536),
    LibraryRule("bcast", 9, (0, 512), "knomial", 0),
    LibraryRule("allgather", 8, (100, 1000), "ring", 100),
]
RULES_FILE = """\
# Rules of coll/tuned, made by isochrone tune from measurements. Open MPI ignores this
# file in silence unless coll_tuned_use_dynamic_rules is 1; see tune --verify.
2  # collectives
0  # allgather; bytes are over all ranks
3  # numbers of ranks
0  # any other number of ranks: the library's own choice
1  # bytes algorithm fan-out segment
0 0 0 0
8  # allgather on 8 ranks
3  # bytes algorithm fan-out segment
0 0 0 0
800 4 0 0  # ring
8001 0 0 0
9  # more ranks: the library's own choice
1  # bytes algorithm fan-out segment
0 0 0 0
7  # bcast; bytes are of one rank
4  # numbers of ranks
0  # any other number of ranks: the library's own choice
1  # bytes algorithm fan-out segment
0 0 0 0
8  # bcast on 8 ranks
4  # bytes algorithm fan-out segment
0 0 0 0
1024 6 0 0  # binomial
16385 2 4 0  # chain
65537 0 0 0
9  # bcast on 9 ranks
2  # bytes algorithm fan-out segment
0 7 4 0  # knomial
513 0 0 0
10  # more ranks: the library's own choice
1  # bytes algorithm fan-out segment
0 0 0 0
"""


def test_the_rules_file_of_open_mpi(tmp_path: Path, golden: Golden) -> None:
    """Sizes as each operation counts them, and the library's own choice everywhere else."""
    path = tmp_path / "rules.conf"
    written = tunings.load("openmpi").write(RULES, path, b"")
    assert written.files == {path: RULES_FILE}
    assert written.environ == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path),
        "OMPI_MCA_coll_han_priority": "0",
    }
    golden(written.warnings[0])


def chosen(rules: str, op: int, ranks: int, size: int) -> int:
    """Return what Open MPI chooses: the largest block, then the largest rule, that is not above."""
    lines = iter(line.split("#")[0].split() for line in rules.splitlines())
    numbers = iter([int(word) for line in lines for word in line])
    found = 0
    for _ in range(next(numbers)):
        this, blocks = next(numbers), []
        for _ in range(next(numbers)):
            size_of = next(numbers)
            messages = [[next(numbers) for _ in range(4)] for _ in range(next(numbers))]
            blocks.append((size_of, messages))
        if this == op:
            messages = [m for own, m in blocks if own <= ranks or own == blocks[0][0]][-1]
            assert messages[0][0] == 0, "Open MPI ignores this file"
            found = [algorithm for least, algorithm, *_ in messages if least <= size][-1]
    return found


CASES = [
    (7, 8, 1023, 0),
    (7, 8, 1024, 6),
    (7, 8, 16384, 6),
    (7, 8, 16385, 2),
    (7, 8, 65537, 0),
    (7, 4, 2048, 0),
    (7, 10, 2048, 0),
    (7, 9, 0, 7),
    (7, 9, 513, 0),
    (0, 8, 799, 0),
    (0, 8, 800, 4),
    (0, 8, 8000, 4),
    (0, 8, 8008, 0),
    (0, 9, 900, 0),
    (3, 8, 900, 0),
]


def test_what_open_mpi_reads(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A communicator of another size must not get the rules of its neighbour."""
    for op, ranks, size, algorithm in CASES:
        with subtests.test(str((op, ranks, size, algorithm))):
            path = tmp_path / "rules.conf"
            text = tunings.load("openmpi").write(RULES, path, b"").files[path]
            assert chosen(text, op, ranks, size) == algorithm


def library(**operations: Any) -> bytes:
    """Make up the part of a library's file that holds its trees."""
    leaf = {"comm_type=intra": {"algorithm=MPIR_X_intra_own": {}}, "comm_type=inter": {"y": {}}}
    names = ("bcast", "allreduce", "reduce", "allgather", "alltoall", "reduce_scatter_block")
    own: dict[str, Any] = {f"collective={name}": leaf for name in names}
    own["collective=alltoallw"] = {"algorithm=MPIR_Alltoallw_intra_scattered": {}}
    device = {f"collective={name}": {"comm_type=intra": {"own": {}}} for name in names}
    device["collective=bcast"]["comm_type=intra"] = {
        "composition=MPIDI_Bcast_intra_composition_alpha": {}
    }
    texts = [json.dumps(tree).encode() for tree in (device, own)]
    return b"\x7fELF\0" + b"\0".join(texts) + b"\0rest"


def test_the_selection_file_of_mpich_changes_what_a_rule_is_for(
    tmp_path: Path, golden: Golden
) -> None:
    """All else finds what it always found: a file that lacks an operation ends MPI_Init."""
    path = tmp_path / "selection.json"
    rules = [
        LibraryRule("bcast", 8, (1024, 4096), "binomial", 1024),
        LibraryRule("allgather", 6, (100, 1000), "ring", 100),
        LibraryRule("alltoall", 8, (0, 64), "brucks", 8),
        LibraryRule("allreduce", 8, (8, 64), "recursive_doubling", 8),
        LibraryRule("gather", 8, (8, 64), "nb", 8),
    ]
    written = tunings.load("mpich").write(rules, path, library())
    own, device = (json.loads(text) for text in written.files.values())
    before, _ = built_in(library())
    there = before["collective=bcast"]["comm_type=intra"]
    assert own.keys() == before.keys()
    assert own["collective=reduce"] == before["collective=reduce"]
    assert (
        own["collective=bcast"]["comm_type=inter"] == before["collective=bcast"]["comm_type=inter"]
    )
    assert own["collective=bcast"]["comm_type=intra"] == {
        "comm_size<=7": there,
        "comm_size<=8": {
            "avg_msg_size<=1023": there,
            "avg_msg_size<=4096": {"algorithm=MPIR_Bcast_intra_binomial": {}},
            "avg_msg_size=any": there,
        },
        "comm_size=any": there,
    }
    assert own["collective=allgather"]["comm_type=intra"]["comm_size<=6"] == {
        "total_msg_size<=599": there,
        "total_msg_size<=6000": {"algorithm=MPIR_Allgather_intra_ring": {}},
        "total_msg_size=any": there,
    }
    small = own["collective=alltoall"]["comm_type=intra"]["comm_size<=8"]["avg_msg_size<=64"]
    assert small["is_sendbuf_inplace=yes"] == there
    sums = own["collective=allreduce"]["comm_type=intra"]["comm_size<=8"]["avg_msg_size<=64"]
    assert sums["is_op_built_in=no"] == there
    assert device["collective=bcast"]["comm_type=intra"]["comm_size<=8"]["avg_msg_size<=4096"] == {
        "composition=MPIDI_Bcast_intra_composition_gamma": {}
    }
    assert written.left_out == (rules[-1],)
    golden(written.warnings)
    assert set(written.environ.values()) == {str(path), str(tmp_path / "selection-device.json")}


def test_a_selection_file_never_ends_with_a_page(tmp_path: Path) -> None:
    """MPICH maps it and reads on to a zero byte, which is only there behind the end."""
    path = tmp_path / "selection.json"
    lengths = set()
    for more in range(4096):
        padded = library().replace(b"intra_own", b"intra_own" + b"x" * more, 1)
        (text,) = tunings.load("mpich").write([], path, padded).files.values()
        lengths.add(len(text) % 4096)
    assert 0 not in lengths
    assert len(lengths) == 4095


@pytest.mark.parametrize("content", [b"", b'\0{"collective=bcast": ' + b"x" * 600 + b"\0"])
def test_a_library_without_trees_is_one_line(
    content: bytes, tmp_path: Path, golden: Golden
) -> None:
    with golden.refusal():
        tunings.load("mpich").write(RULES[:1], tmp_path / "x.json", content)


@pytest.mark.parametrize(
    ("name", "mpi", "says"),
    [
        ("openmpi", "MPICH 5.0.2", "the runs were measured with MPICH 5.0.2, not Open MPI"),
        (
            "openmpi",
            "Open MPI v6.0.0",
            "rules files can be written for Open MPI 4.1 and 5.0, not for Open MPI v6.0.0",
        ),
        (
            "openmpi",
            "Open MPI v3.1.2",
            "rules files can be written for Open MPI 4.1 and 5.0, not for Open MPI v3.1.2",
        ),
        ("mpich", "Open MPI v5.0.11", "the runs were measured with"),
        (
            "mpich",
            "MPICH 4.3.2",
            "selection files can be written for MPICH 5.0, not for MPICH 4.3.2",
        ),
        ("mpich", "MPICH 5.1", "written for MPICH 5.0"),
    ],
)
def test_a_version_whose_files_are_others_is_refused(name: str, mpi: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        tunings.load(name).check(mpi)


@pytest.mark.parametrize(
    ("name", "mpi"),
    [("openmpi", "Open MPI v4.1.4"), ("openmpi", "Open MPI v5.0.11"), ("mpich", "MPICH 5.0.2")],
)
def test_the_versions_that_were_tried_are_accepted(name: str, mpi: str) -> None:
    tunings.load(name).check(mpi)


def test_rules_that_open_mpi_does_not_follow_are_left_out(tmp_path: Path, golden: Golden) -> None:
    """Its file has a number for scan, but what is said of it changes nothing."""
    rules = [LibraryRule("scan", 8, (8, 64), "linear", 8), *RULES]
    written = tunings.load("openmpi").write(rules, tmp_path / "rules.conf", b"")
    assert list(written.files.values()) == [RULES_FILE]
    assert written.left_out == (rules[0],)
    golden(written.warnings[0])


def test_an_algorithm_that_open_mpi_does_not_have_is_refused(
    tmp_path: Path, golden: Golden
) -> None:
    rules = [LibraryRule("bcast", 8, (8, 64), "teleport", 8)]
    with golden.refusal():
        tunings.load("openmpi").write(rules, tmp_path / "x", b"")
