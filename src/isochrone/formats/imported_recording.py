"""Recordings of programs that other tools made."""

from collections.abc import Mapping

from isochrone.base.record import Members
from isochrone.base.table import Table, TableBuilder
from isochrone.formats.source import Source
from isochrone.runfile.records import Rank
from isochrone.runfile.run import Run


def tables_of(records: Mapping[str, list[Members]]) -> dict[str, Table]:
    """Return records, by their names, as tables; without those of which there are none."""
    tables = {}
    for name, rows in records.items():
        builder = TableBuilder()
        builder.extend(rows)
        if rows:
            tables[name] = builder.build()
    return tables


def recording(
    source: Source,
    kind: str,
    hosts: Mapping[int, str],
    records: Mapping[str, list[Members]],
    *,
    ranks: int,
    command: str,
    seconds_are: str,
    seconds: float,
    started: str = "",
) -> Run:
    """Return a complete run of a kind of recording.

    Parameters
    ----------
    source
        The file that it is from.
    kind
        ``recording`` or ``io-recording``.
    hosts
        Host of each rank; not used if some are missing.
    records
        By their names.
    ranks, command, seconds, started
        Of the program; ``started`` as in run files, or empty.
    seconds_are
        What the seconds of the records are.
    """
    header: Members = {
        "experiment": kind,
        "kind": kind,
        "ranks": ranks,
        "options": {},
        "mpi": {},
        "clock": {},
        "imported": source.origin(),
        "notes": {"command": command},
        "seconds_are": seconds_are,
    }
    return Run(
        header=header | ({"started": started} if started else {}),
        tables=tables_of(records),
        warnings=source.warnings,
        path=source.path,
        ranks=source.ranks(hosts)
        if len(hosts) == ranks
        else [Rank(rank=rank, host="") for rank in range(ranks)],
        end={"complete": True, "seconds": seconds},
    )
