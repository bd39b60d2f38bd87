"""Settings of the MPI library in the header: all that steer it, no secret, nothing of launchers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import PATIENCE, ROOT, Mpi

FAMILIES = ("UCX_", "FI_", "OMPI_MCA_", "PMIX_MCA_", "MPIR_CVAR_", "MPICH_", "I_MPI_", "SLURM_MPI")
SOURCES = ("machine/settings.c",)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("settings") / "settings"
    files = [ROOT / "tests/probe/settings.c", *(ROOT / "probe" / name for name in SOURCES)]
    argv = ["cc", "-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", f"-I{ROOT}/probe"]
    subprocess.run([*argv, *files, "-o", built], check=True, timeout=PATIENCE)
    return built


def settings(
    program: Path, environ: dict[str, str] | dict[bytes, bytes], *words: str
) -> tuple[dict[str, str], list[str], int, str]:
    """Return the settings, names of secrets, how many were too many, and the checksum."""
    answer = subprocess.run(
        [program, *words], env=environ, capture_output=True, timeout=PATIENCE, check=True
    )
    *lines, last = answer.stdout.decode(errors="replace").removesuffix("\n").split("\n")
    more, total = last.split()
    found = dict(line.split("=", 1) for line in lines if "=" in line)
    return found, [line for line in lines if "=" not in line], int(more), total


def kept(program: Path, name: str, value: str) -> bool:
    found, secrets, _, _ = settings(program, {name: value})
    assert (name in found) != (secrets == [name])
    return name in found


@pytest.mark.parametrize(
    "name",
    [
        "UCX_TOKEN",
        "FI_AUTH_KEY",
        "OMPI_MCA_my_secret",
        "MPICH_PASSWORD",
        "I_MPI_DB_PASSWD",
        "FI_API_KEY",
        "FI_APIKEY",
        "UCX_CREDENTIALS",
        "OMPI_MCA_access_keys",
        "PMIX_MCA_auth",
        "UCX_PRIVATE",
        "FI_SSH_PASS",
    ],
)
def test_what_is_named_as_a_secret_is_left_out(program: Path, name: str) -> None:
    """Run files are sent around and attached to tickets."""
    assert not kept(program, name, "x")


@pytest.mark.parametrize(
    "value",
    [
        "https://user:pass@host/path",
        "tcp://a:b/c@d",
        "-----BEGIN PRIVATE KEY-----",
        "token=x",
        "a,b;PASSWORD=x",
        "372c0000-5dbf-332a-e360-060012f2e179",
        "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRg==",
        "ghp_abc",
        "Authorization: Bearer abc",
    ],
)
def test_what_looks_like_a_secret_is_left_out(program: Path, value: str) -> None:
    assert not kept(program, "UCX_SOMETHING", value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("UCX_TLS", "tcp,self"),
        ("UCX_IB_PKEY", "0x8001"),
        ("OMPI_MCA_mpi_keyval", "3"),
        ("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1"),
        ("UCX_RNDV_THRESH", "inf"),
        ("FI_PROVIDER_PATH", "/opt/software/Libfabric/1.21.0-GCCcore-13.3.0/lib/libfabric"),
        ("I_MPI_PIN_DOMAIN", "[" + "F0" * 40 + "]"),
        ("UCX_TLS", ""),
        ("FI_TCP_IFACE", "eth0"),
        ("OMPI_MCA_btl_tcp_if_include", "10.0.0.0/8,192.168.1.0/24"),
        ("SLURM_MPI_TYPE", "pmix"),
        ("I_MPI_ADJUST_BCAST", "1:0-1023@2;2:1024-4096"),
        ("UCX_LOG_FILE", "/tmp/ucx:a@b.log"),
        ("I_MPI_PIN_PROCESSOR_LIST", ",".join(map(str, range(100)))),
    ],
)
def test_what_steers_the_library_is_kept(program: Path, name: str, value: str) -> None:
    assert settings(program, {name: value})[0] == {name: value}


@pytest.mark.parametrize("name", ["PATH", "UCX", "UCXX_TLS", "SLURM_JOB_ID", "MY_UCX_TLS", "HOME"])
def test_other_variables_are_nobodys_business(program: Path, name: str) -> None:
    assert settings(program, {name: "x"})[:2] == ({}, [])


def test_a_long_value_is_cut_and_still_differs_from_another(program: Path) -> None:
    """A header stays small whatever the environment holds; compare must see a difference."""
    one, _, _, _ = settings(program, {}, "long", "1048576")
    other, _, _, _ = settings(program, {}, "long", "1048577")
    assert one["UCX_LONG"].startswith("." * 500 + "... (1048576 bytes, checksum ")
    assert max(len(one["UCX_LONG"]), len(other["UCX_LONG"])) < 564
    assert one["UCX_LONG"].split()[-1] != other["UCX_LONG"].split()[-1]
    assert settings(program, {}, "long", "500")[0] == {"UCX_LONG": "." * 500}


@pytest.mark.parametrize("letter", ["é", "東", "🙂"])
def test_a_value_is_not_cut_within_a_character(program: Path, letter: str) -> None:
    for before in range(4):
        value = "." * before + letter * 300
        shown = settings(program, {"UCX_X": value})[0]["UCX_X"].partition("... (")[0]
        assert value.startswith(shown)
        assert len(shown.encode()) > 500 - 4


def test_more_settings_than_anybody_has_are_counted(program: Path) -> None:
    found, _, more, _ = settings(program, {f"UCX_{k}": "1" for k in range(250)})
    assert (len(found), more) == (200, 50)


def test_of_a_variable_that_is_there_twice_the_first_counts(program: Path) -> None:
    """Like for getenv."""
    assert settings(program, {}, "twice")[0] == {"UCX_TLS": "first"}


def test_names_that_no_library_reads_are_left_alone(program: Path) -> None:
    environ = {b"UCX_\xff": b"1", b"UCX_A B": b"1", b"UCX_" + b"A" * 200: b"1", b"UCX_B": b"1"}
    assert settings(program, environ)[0] == {"UCX_B": "1"}


def test_the_checksum_tells_settings_apart_and_no_secrets(program: Path) -> None:
    """Ranks are compared by it: a secret must not be found by trying which one fits."""

    def checksum(**environ: str) -> str:
        return settings(program, environ)[3]

    assert checksum(UCX_TLS="tcp") != checksum(UCX_TLS="self") != checksum()
    assert checksum(UCX_TLS="tcp", FI_B="1") == checksum(FI_B="1", UCX_TLS="tcp", HOME="x")
    assert checksum(UCX_TOKEN="a") == checksum(UCX_TOKEN="b") != checksum()


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(FAMILIES):
            monkeypatch.delenv(name)


@pytest.mark.smoke
@pytest.mark.usefixtures("no_settings")
def test_launchers_and_libraries_add_nothing_by_themselves(every_mpi: Mpi, tmp_path: Path) -> None:
    """Job numbers and the like would differ in every run, and explain nothing."""
    for name in ("one", "two"):
        run = every_mpi.run("latency-map", "--repeats", "1", ranks=2, out=tmp_path / name)
        assert run.header["settings"] == {}
        assert "settings_left_out" not in run.header
        assert run.header["memory"] == "host"
        assert run.about.machine.kernel == os.uname().release
        codes = {warning["code"] for warning in run.warnings}
        assert codes.isdisjoint({"settings-differ", "nodes-differ"})


@pytest.mark.few(1)
@pytest.mark.usefixtures("no_settings")
def test_settings_are_those_the_ranks_have(
    every_mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {"UCX_TLS": "tcp,self", "MPIR_CVAR_NOTHING": "1", "OMPI_MCA_nothing": 'a"\\\n\x1bz'}
    for name, value in {**wanted, "FI_SOME_TOKEN": "x"}.items():
        monkeypatch.setenv(name, value)
    run = every_mpi.run("latency-map", "--repeats", "1", ranks=2, out=tmp_path / "run.jsonl")
    assert run.about.settings == wanted
    assert run.about.left_out == ("FI_SOME_TOKEN",)


@pytest.mark.usefixtures("no_settings")
def test_ranks_with_other_settings_are_named(mpich: Mpi, tmp_path: Path, golden: Golden) -> None:
    """A wrapper script that chooses a device by rank, or a node with another environment."""
    out = tmp_path / "run.jsonl"
    probe = [str(mpich.probe.path), "latency-map", "--repeats", "1", "--out", str(out)]
    launcher, *_ = mpich.argv_of(["true"], ranks=1)
    argv = [launcher, "-n", "2", *probe, ":", "-n", "1", "-env", "UCX_TLS", "tcp", *probe]
    subprocess.run(argv, check=True, timeout=PATIENCE, capture_output=True)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert records[0]["settings"] == {}
    (text,) = (one["text"] for one in records if one.get("code") == "settings-differ")
    golden(text)


def test_values_of_any_bytes_leave_the_file_json(mpich: Mpi) -> None:
    environ = {**os.environb, b"OMPI_MCA_nothing": b"M\xfcller\x01\xe6\x9d"}
    argv = [os.fsencode(mpich.probe.path), b"compute", b"--bytes", b"8KiB", b"--repeats", b"1"]
    answer = subprocess.run(argv, env=environ, capture_output=True, timeout=PATIENCE, check=True)
    header = json.loads(answer.stdout.splitlines()[0].decode("utf-8"))
    assert header["settings"]["OMPI_MCA_nothing"] == "M\ufffdller\x01\ufffd\ufffd"


def test_made_up_times_have_no_machine(mpich: Mpi, tmp_path: Path) -> None:
    """The host on which they were made up says nothing about them."""
    run = mpich.run("synthetic", "--repeats", "1", ranks=2, out=tmp_path / "null.jsonl")
    assert run.header.keys().isdisjoint({"settings", "memory", "machine"})
    assert not run.about.knows_settings
