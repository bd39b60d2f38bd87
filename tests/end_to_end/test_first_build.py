"""The first command on a machine compiles the probe: whatever fails then, and who may interfere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from beds.endings import MARK, marked
from beds.faults import Answer, isochrone, one_line, start
from beds.golden import Golden
from beds.mpis import MPIS, PATIENCE, find_mpi
from isochrone.measure.cache import is_sealed

WRAPPER = """#!/bin/bash
# A compiler wrapper that has what it makes ready, unless a file beside it says what is to happen.
here=$(dirname "$0")
how=$(cat "$here/how" 2>/dev/null)
if [ "$1" = -show ] && [ "$how" != silent ]; then exec {mpicc} -show; fi
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; words+=("$1"); shift; done
case $how in
    fails) for k in $(seq 10000); do echo "error $k: no such thing" >&2; done; exit 1 ;;
    hangs|silent) sleep 3600 & sleep 3600 ;;
    half) head -c 4096 {mpicc} > "$out"; touch "$here/begun"; sleep 3600 ;;
    nothing) exit 0 ;;
    real) exec {mpicc} "${{words[@]}}" "$1" ;;
    *) exec cp {probe} "$out" ;;
esac
"""

OTHER = 65534
"""A user who is not the one of the tests."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


class Site:
    """A compiler wrapper of its own, and an empty cache."""

    def __init__(self, folder: Path) -> None:
        made = find_mpi("mpich-wheel").probe.path
        self.folder = folder
        self.mpicc = folder / "mpicc"
        self.mpicc.write_text(WRAPPER.format(mpicc=MPIS["mpich-wheel"], probe=made))
        self.mpicc.chmod(0o755)
        for launcher in ("mpiexec", "mpiexec.hydra"):
            (folder / launcher).symlink_to(MPIS["mpich-wheel"].with_name(launcher))
        self.environ = {"XDG_CACHE_HOME": str(folder / "cache"), "CFLAGS": "-O0"}
        self.words = (
            "measure",
            "synthetic",
            "-n",
            "1",
            "--dry-run",
            "-o",
            "x.jsonl",
            "--mpicc",
            str(self.mpicc),
        )

    def compiler(self, how: str) -> None:
        """Let the wrapper do something else; it stays the same for whoever asks which it is."""
        (self.folder / "how").write_text(how)

    def run(self, limits: str = "", environ: Mapping[str, str | None] = {}) -> Answer:
        """Plan a measurement, for which the probe has to be there, and to run."""
        return isochrone(
            *self.words, cwd=self.folder, limits=limits, environ={**self.environ, **environ}
        )

    def run_with(self, setting: str) -> Answer:
        """Do so with a constant of ours changed, where nobody would wait for the usual one."""
        code = f"import sys; {setting}; from isochrone.cli.main import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", code, *self.words],
            cwd=self.folder,
            check=False,
            text=True,
            env={**os.environ, **self.environ},
            capture_output=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
        )

    @property
    def cache(self) -> Path:
        return self.folder / "cache/isochrone"

    def made(self) -> list[Path]:
        """List what is kept but for what programs have answered."""
        return [path for path in self.cache.iterdir() if path.name != "answers"]

    @property
    def binary(self) -> Path:
        """The probe, once it was compiled."""
        [folder] = self.made()
        return folder / "isochrone-probe"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def built(site: Site) -> Site:
    """A site where the probe was compiled."""
    answer = site.run()
    assert answer.returncode == 0, answer.stderr
    return site


def test_a_compiler_that_fails_is_named_with_its_last_words(site: Site, golden: Golden) -> None:
    """Of 10,000 lines a person wants the last ones; and the next try starts afresh."""
    site.compiler("fails")
    answer = site.run()
    line = one_line(answer, 3)
    golden.measured(line)
    golden.measured(answer.stderr)
    assert len(answer.stderr.splitlines()) < 30
    assert site.made() == []
    site.compiler("")
    assert site.run().returncode == 0


def test_a_compiler_that_makes_nothing_is_named(site: Site, golden: Golden) -> None:
    site.compiler("nothing")
    golden.measured(one_line(site.run(), 3))
    assert site.made() == []


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("how", "setting"),
    [
        ("hangs", "from isochrone.measure import probe; probe.BUILD_TIMEOUT = 3"),
        (
            "silent",
            "from isochrone.measure.subprocesses import answer; answer.__defaults__ = (3, None)",
        ),
    ],
)
def test_a_compiler_that_hangs_is_named_and_ended_with_what_it_started(
    site: Site, how: str, setting: str, golden: Golden
) -> None:
    """When it compiles, and when it is asked what it would do."""
    site.compiler(how)
    mark = uuid.uuid4().hex
    site.environ[MARK] = mark
    answer = site.run_with(setting)
    line = one_line(answer, 3)
    assert str(site.mpicc) in line
    golden.measured(line)
    assert marked(mark) == []


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_half_a_binary_is_never_used(site: Site, number: signal.Signals) -> None:
    """The command is killed while the compiler has written a part of its output."""
    site.compiler("half")
    mark = uuid.uuid4().hex
    process = start(*site.words, cwd=site.folder, environ={**site.environ, MARK: mark})
    while not (site.folder / "begun").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    while marked(mark):
        time.sleep(0.01)
    assert not list(site.cache.glob("probe-*/isochrone-probe")) or number == signal.SIGKILL
    site.compiler("")
    answer = site.run()
    assert answer.returncode == 0, answer.stderr
    assert [is_sealed(file) for file in site.cache.glob("*/isochrone-probe")].count(True) == 1


@pytest.mark.full
def test_two_first_builds_at_once_are_both_right(site: Site) -> None:
    """A batch system starts many jobs in the same second, and they share the home folder."""
    site.compiler("real")
    started = [start(*site.words, cwd=site.folder, environ=site.environ) for _ in range(2)]
    said = [(one.communicate(timeout=PATIENCE)[1], one.returncode) for one in started]
    assert said == [("", 0), ("", 0)]
    assert is_sealed(site.binary)
    assert [file.name for file in site.binary.parent.iterdir()] == ["isochrone-probe"]


def _cut(binary: Path) -> None:
    os.truncate(binary, binary.stat().st_size // 2)


def _empty(binary: Path) -> None:
    os.truncate(binary, 0)


def _flip(binary: Path) -> None:
    content = bytearray(binary.read_bytes())
    content[len(content) // 2] ^= 1
    binary.write_bytes(content)


def _replace(binary: Path) -> None:
    binary.write_text("#!/bin/sh\ntouch owned\n")


def _link(binary: Path) -> None:
    program = binary.parent.parent.parent / "program"
    program.write_text("#!/bin/sh\ntouch owned\n")
    program.chmod(0o755)
    binary.unlink()
    binary.symlink_to(program)


@pytest.mark.few(1)
@pytest.mark.parametrize("change", [_cut, _empty, _flip, _replace, _link])
def test_a_binary_that_was_changed_is_compiled_again(
    built: Site, change: Callable[[Path], None]
) -> None:
    """By a crash of the machine, a full disk, a bad disk, or a person."""
    change(built.binary)
    assert not is_sealed(built.binary)
    answer = built.run()
    assert answer.returncode == 0, answer.stderr
    assert is_sealed(built.binary)
    assert not (built.folder / "owned").exists()


def _others(path: Path) -> None:
    os.chown(path, OTHER, OTHER)


def _anybodys(path: Path) -> None:
    path.chmod(0o777)


def _of_a_group(path: Path) -> None:
    os.chown(path, -1, OTHER)
    path.chmod(0o775)


def _linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")
    os.lchown(path, OTHER, OTHER)


@pytest.mark.few(3)
@as_root
@pytest.mark.parametrize("change", [_others, _anybodys, _of_a_group, _linked])
@pytest.mark.parametrize("of", ["cache", "folder", "binary"])
def test_nothing_is_run_from_where_others_may_write(
    built: Site, change: Callable[[Path], None], of: str, golden: Golden
) -> None:
    """A cache that another user has prepared, such as /tmp/isochrone, would run their program."""
    binary = built.binary
    binary.write_text("#!/bin/sh\ntouch owned\n")
    change({"cache": built.cache, "folder": binary.parent, "binary": binary}[of])
    line = one_line(built.run(), 2)
    golden.measured(line)
    assert "XDG_CACHE_HOME" in line
    assert not (built.folder / "owned").exists()


def test_a_cache_whose_folder_others_may_move_is_refused(site: Site, golden: Golden) -> None:
    """They could put another one in its place; in one such as /tmp, they cannot."""
    site.cache.parent.mkdir(parents=True, exist_ok=True)
    site.cache.parent.chmod(0o777)
    line = one_line(site.run(), 2)
    golden.measured(line)
    site.cache.parent.chmod(0o1777)
    assert site.run().returncode == 0


@pytest.mark.parametrize(
    "environ", [{"HOME": "/proc/1"}, {"HOME": "/nonexistent/x"}, {"HOME": "/dev/null"}], ids=str
)
def test_without_a_home_it_says_what_to_set(site: Site, environ: dict[str, str | None]) -> None:
    """Read-only or missing: there is no other folder that is surely the user's own."""
    if environ["HOME"] == "/nonexistent/x" and os.geteuid() == 0:
        environ = {"HOME": "/proc/nonexistent/x"}  # root could make the other
    line = one_line(site.run(environ={**environ, "XDG_CACHE_HOME": None}), 2)
    assert "XDG_CACHE_HOME" in line


def test_a_probe_in_a_home_that_cannot_be_written_is_used(built: Site) -> None:
    """Once it is there: on many clusters nodes mount the home folders read-only."""
    binary = built.binary
    for folder in (binary.parent, built.cache):
        folder.chmod(0o555)
    answer = built.run()
    for folder in (binary.parent, built.cache):
        folder.chmod(0o755)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.full
def test_the_compiler_works_with_few_open_files(site: Site) -> None:
    site.compiler("real")
    answer = site.run("ulimit -n 64;")
    assert answer.returncode == 0, answer.stderr
    assert is_sealed(site.binary)
