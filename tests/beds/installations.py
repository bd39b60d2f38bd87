"""Folders that look like installations of MPI: launchers that say what they are, and libraries."""

from __future__ import annotations

from pathlib import Path

HYDRA = "HYDRA build details:\\n    Version: 4.0.2"
OPEN_MPI = "mpirun (Open MPI) 5.0.11"
INTEL = "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626"
DEBIAN_OPEN_MPI = "mpiexec.openmpi (OpenRTE) 4.1.4"


def program(path: Path, says: str = "", code: int = 0) -> Path:
    """Make a program that prints a text and ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nprintf '{says}\\n'\nexit {code}\n")
    path.chmod(0o755)
    return path


def library(path: Path) -> Path:
    """Make a file with the name of a library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF")
    return path
