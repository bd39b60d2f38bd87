"""Nodes of a job: numbers, hostfiles of three kinds, Slurm's variables, and what is none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.measure.allocation import (
    Allocation,
    expand_hosts,
    from_hosts,
    from_numbers,
    from_slurm,
    read_hostfile,
)


def test_numbers_may_be_repeated_as_slurm_does() -> None:
    found = from_numbers("4,4,2(x2), 1")
    assert (found.hosts, found.cores) == (("n0", "n1", "n2", "n3", "n4"), (4, 4, 2, 2, 1))
    assert found.ranks == 13
    assert not found.named


@pytest.mark.parametrize("text", ["", "4,,2", "4,a", "4,-1", "4,2.5", "4(x", "9999999(x9999999)"])
def test_numbers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        from_numbers(text)


def test_a_node_without_a_core_is_named() -> None:
    with pytest.raises(InputError, match="node n1 cannot have 0 cores"):
        from_numbers("4,0,2")


def test_hostfiles_of_all_kinds_say_the_same(tmp_path: Path) -> None:
    texts = (
        "a:2\nb\n\n# c:4\n",
        "a slots=2  # two\nb\n",
        "a\na\nb\n",
        "a max_slots=9 slots=2\nb\n",
    )
    for text in texts:
        (tmp_path / "h").write_text(text)
        found = read_hostfile(tmp_path / "h")
        assert (found.hosts, found.cores) == (("a", "b"), (2, 1)), text
        assert found.by_rank == ["a", "a", "b"]
        assert found.named


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a\nb\na\nb\n", "abab"),
        ("b\na\na\nb\n", "baab"),
        ("a:2\nb\na\n", "aaba"),
        ("a slots=1\nb slots=1\na slots=1\n", "aab"),
    ],
)
def test_a_rank_is_on_the_host_of_its_line(text: str, hosts: str, tmp_path: Path) -> None:
    """PBS may deal ranks out cyclically. Slots of a host are added up, as Open MPI does."""
    (tmp_path / "h").write_text(text)
    found = read_hostfile(tmp_path / "h")
    assert found.by_rank == list(hosts)
    assert dict(zip(found.hosts, found.cores, strict=True)) == Counter(hosts)


@pytest.mark.parametrize("line", ["a:0", "a:x", "a:2 slots=2", "a slots=0", "\x1b[31m:2", "a,b"])
def test_a_line_that_is_no_host_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "h").write_text(f"ok:1\n{line}\n")
    with pytest.raises(InputError) as error:
        read_hostfile(tmp_path / "h")
    assert str(error.value).startswith(f"{tmp_path / 'h'}:2")


def test_an_empty_or_a_missing_hostfile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "h").write_text("# nothing\n")
    for name in ("h", "none"):
        with pytest.raises(InputError):
            read_hostfile(tmp_path / name)


def test_lists_of_hosts_are_expanded_as_scontrol_does() -> None:
    text = "n[0-2,7],login,r[1-2]c[08-10],x"
    assert expand_hosts(text, "here") == [
        "n0",
        "n1",
        "n2",
        "n7",
        "login",
        "r1c08",
        "r1c09",
        "r1c10",
        "r2c08",
        "r2c09",
        "r2c10",
        "x",
    ]


@pytest.mark.parametrize(
    "text",
    ["n[", "n[]", "n[3-1]", "n[a]", "n1,n1", "n[0-99999999]", "n[0-999999,0-999999,0-999999]", "]"],
)
def test_lists_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        expand_hosts(text, "here")


def test_a_slurm_job_is_read_from_its_variables() -> None:
    job = {"SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_CPUS_PER_NODE": "72(x2),36"}
    found = from_slurm(job)
    assert (found.hosts, found.cores) == (("n1", "n2", "n3"), (72, 72, 36))
    tasks = {**job, "SLURM_NTASKS": "5", "SLURM_TASKS_PER_NODE": "2(x2),1"}
    assert from_slurm(tasks).cores == (2, 2, 1)


@pytest.mark.parametrize(
    "job",
    [
        {},
        {"SLURM_JOB_NODELIST": "n1"},
        {"SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_CPUS_PER_NODE": "72(x2)"},
    ],
)
def test_variables_that_make_no_job_are_refused(job: dict[str, str]) -> None:
    with pytest.raises(InputError):
        from_slurm(job)


def test_ranks_dealt_out_in_turn_stay_where_they_are(golden: Golden) -> None:
    found = from_hosts(["a", "b", "a"], "run.jsonl")
    assert (found.hosts, found.cores, found.by_rank) == (("a", "b"), (2, 1), ["a", "b", "a"])
    assert found.reordered([1, 0]).by_rank == ["b", "a", "a"]
    with golden.refusal():
        from_hosts(["a", ""], "run.jsonl")


def test_an_absurd_number_of_ranks_is_refused() -> None:
    with pytest.raises(InputError, match="ranks"):
        Allocation(("a",), (2**25,))
