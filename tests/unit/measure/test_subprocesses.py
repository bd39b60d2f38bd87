"""What a program says of itself is kept until something that it depends on is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.base.errors import MeasurementError
from isochrone.measure import cache
from isochrone.measure.subprocesses import cached_answer, forget_answers


class Program:
    """A program that counts how often it is asked."""

    def __init__(self, folder: Path) -> None:
        self.path, self.asked = folder / "wrapper", folder / "asked"
        self.write("gcc -lmpi")

    def write(self, words: str, status: int = 0) -> None:
        self.path.write_text(f"#!/bin/sh\necho x >> {self.asked}\necho {words}\nexit {status}\n")
        self.path.chmod(0o755)

    def says(self) -> str:
        return cached_answer([str(self.path), "-show"]).strip()

    @property
    def times(self) -> int:
        return self.asked.read_text().count("x")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: None) -> Program:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiler = tmp_path / "bin" / "gcc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(compiler.parent), prepend=":")
    return Program(tmp_path)


def test_a_program_is_asked_once(program: Program) -> None:
    assert [program.says() for _ in range(3)] == ["gcc -lmpi"] * 3
    assert program.times == 1


def test_it_is_asked_again_when_it_or_its_compiler_was_changed(
    program: Program, tmp_path: Path
) -> None:
    program.says()
    program.write("gcc -lmpi -O2")
    assert program.says() == "gcc -lmpi -O2"
    (tmp_path / "bin/gcc").write_text("#!/bin/sh\n# newer\n")
    program.says()
    (tmp_path / "bin/gcc").unlink()
    program.says()
    assert program.times == 4


def test_variables_of_mpi_libraries_and_of_the_linker_matter_and_others_do_not(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.says()
    monkeypatch.setenv("EDITOR", "ed")
    program.says()
    assert program.times == 1
    for number, name in enumerate(("MPICH_CC", "OMPI_CC", "LD_LIBRARY_PATH", "OPAL_PREFIX"), 2):
        monkeypatch.setenv(name, "/somewhere")
        program.says()
        assert program.times == number


def test_what_fails_is_asked_again(program: Program) -> None:
    program.write("no", status=1)
    assert program.says() == "no"
    program.says()
    assert program.times == 2
    with pytest.raises(MeasurementError):
        cached_answer([str(program.path.with_name("none"))])


def test_answers_can_be_forgotten_and_damaged_ones_or_those_of_others_do_not_count(
    program: Program,
) -> None:
    program.says()
    forget_answers()
    program.says()
    [file] = (cache.cache_folder() / "answers").iterdir()
    file.write_bytes(file.read_bytes()[:-3])
    program.says()
    file.chmod(0o666)
    program.says()
    assert program.times == 4
    program.says()
    assert program.times == 4
