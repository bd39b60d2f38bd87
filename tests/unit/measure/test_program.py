"""Which words of a command line are the launcher's: our probe takes the place of the others."""

from __future__ import annotations

import pytest

from isochrone.measure.program import launcher_words


@pytest.mark.parametrize(
    ("command", "said", "words"),
    [
        ("mpiexec -n 4 ./app -x 1", "./app -x 1", "mpiexec -n 4"),
        ("mpiexec -f hosts -n 4 app", "/opt/bin/app", "mpiexec -f hosts -n 4"),
        ("srun -n 4 python run.py a", "/usr/bin/python3 run.py a", "srun -n 4"),
        ("mpiexec -n 4 python -u a.py", "/v/bin/python3 -u a.py", "mpiexec -n 4"),
        ("mpiexec -n 4 ./run.py a", "/usr/bin/python3 ./run.py a", "mpiexec -n 4"),
        ("mpirun -np 2 env A=1 ./app", "./app", "mpirun -np 2 env A=1"),
        ("mpiexec -n 2 ./app app", "./app app", "mpiexec -n 2"),
        ("mpiexec -n 2 ./wrapper.sh", "./other", None),
        ("mpiexec -n 2 ./a : -n 2 ./b", "./a", None),
    ],
)
def test_the_words_of_the_launcher_are_found(command: str, said: str, words: str | None) -> None:
    found = launcher_words(command.split(), said)
    assert found == (words.split() if words else None)
