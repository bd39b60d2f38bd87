"""The name of an MPI library, out of all that it says of itself."""

from __future__ import annotations

import pytest

from isochrone.runfile.header import library_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MPICH Version:      5.0.2\nMPICH Release date: x", "MPICH 5.0.2"),
        ("Open MPI v5.0.11, package: Open MPI root@x, ident: 5.0.11", "Open MPI 5.0.11"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS\n", "Intel(R) MPI Library 2021.18"),
        ("MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release", "MVAPICH2 2.3.7"),
        ("MPI VERSION : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\n", "CRAY MPICH 8.1.25.17"),
        ("SMPI Version 3.36. Copyright The Simgrid Team 2007-2023", "SMPI 3.36"),
        ("MPICH Version: 4.2.0rc1", "MPICH 4.2.0rc1"),
        ("something of one's own", "something of one's own"),
        ("", ""),
    ],
)
def test_version_words_and_copyright_are_left_out(text: str, name: str) -> None:
    assert library_name(text) == name
