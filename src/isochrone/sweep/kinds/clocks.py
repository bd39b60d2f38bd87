"""A measurement of the ranks' clocks: how well they agreed, and what was recorded."""

from isochrone.pages.common import clock_section, records
from isochrone.pages.page import Asked, Kind, Section, Sentence
from isochrone.pages.words import of_ranks, plural, warnings_of
from isochrone.runfile.clocks import has_clocks
from isochrone.runfile.run import Run


def _title(run: Run) -> str:
    return f"synchronised clocks {of_ranks(run)}"


def _sections(run: Run, asked: Asked) -> list[Section]:
    """Return the clocks, and how many records there are to look at."""
    counts = [
        Sentence(f"  {plural(len(table), 'record')} of '{name}'")
        for name, table in run.tables.items()
    ]
    return [
        clock_section(run),
        Section("Numbers", tuple(counts)),
        Section("Summary", (warnings_of(run.warnings),)),
    ]


PAGE = Kind(title=_title, holds=has_clocks, sections=_sections, document=records, place=7)
