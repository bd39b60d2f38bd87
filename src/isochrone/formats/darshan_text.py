"""A log of Darshan as text, as ``darshan-parser`` and ``darshan-dxt-parser`` print it.

`text_of` runs this in a process of its own, because the C library of PyDarshan (extra ``darshan``)
may end its process on a damaged log.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from tempfile import NamedTemporaryFile

from isochrone.formats.source import Source

_TIME_LIMIT = 600.0
"""Seconds to wait for the library: it reads logs of 100 MB in less than a minute."""


def text_of(source: Source) -> bytes:
    """Return the text of a binary log.

    Raises
    ------
    InputError
        If PyDarshan is missing, or cannot read it.
    """
    by_hand = "(darshan-parser LOG; darshan-dxt-parser LOG) > log.txt, and import log.txt"
    if importlib.util.find_spec("darshan") is None:
        raise source.fail(
            "reading a binary log of Darshan needs the package darshan",
            hint=f"pip install darshan; or: {by_hand}",
        )
    with NamedTemporaryFile(suffix=".darshan") as copy:
        copy.write(source.data)
        copy.flush()
        command = [sys.executable, "-m", __name__, copy.name]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_TIME_LIMIT, check=True)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise source.fail("PyDarshan cannot read the log", hint=by_hand) from error
    if done.stderr:
        source.warn("incomplete", "the log is damaged: PyDarshan cannot read all of it")
    return done.stdout


def _lines(path: str) -> Iterator[str]:
    from darshan.backend import cffi_backend as library

    log = library.log_open(path)
    job = library.log_get_job(log)
    yield f"# darshan log version: {job['log_ver']}"
    yield f"# exe: {library.log_get_exe(log)}"
    yield f"# start_time: {job['start_time_sec']}"
    yield f"# nprocs: {job['nprocs']}"
    yield f"# run time: {job['run_time']:.4f}"
    names, mounts = library.log_get_name_records(log), library.log_get_mounts(log)
    modules = library.log_get_modules(log)
    for module in ("MPI-IO", "POSIX", "LUSTRE"):
        if modules.get(module, {}).get("partial_flag"):
            yield f"# *WARNING*: The {module} module contains incomplete data!"
        while record := library.log_get_record(log, module, dtype="dict"):
            name = names.get(record["id"], "")
            mount = next((m for m in mounts if name.startswith(m[0])), ("UNKNOWN", "UNKNOWN"))
            for component in record.get("components", ())[:1]:  # of a file of Lustre
                record["counters"] = {
                    counter.replace("_COMP_", "_COMP1_"): value
                    for counter, value in component["counters"].items()
                }
            for counter, value in (record["counters"] | record.get("fcounters", {})).items():
                words = (module, record["rank"], record["id"], counter, value, name, *mount)
                yield "\t".join(map(str, words))
    while record := library.log_get_record(log, "DXT_MPIIO"):
        yield f"# DXT, file_id: {record['id']}, file_name: {names.get(record['id'], '')}"
        yield f"# DXT, rank: {record['rank']}, hostname: {record['hostname']}"
        for op in ("write", "read"):
            for number, segment in enumerate(record[f"{op}_segments"]):
                values = " ".join(map(str, segment.values()))  # offset, length, start, end
                yield f"X_MPIIO {record['rank']} {op} {number} {values}"


if __name__ == "__main__":
    for line in _lines(sys.argv[1]):
        sys.stdout.buffer.write(f"{line}\n".encode())
