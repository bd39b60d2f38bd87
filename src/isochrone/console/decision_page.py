"""What a command decided: printed, as JSON, and as a page to share. All three hold the same."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from isochrone.base.text import printable
from isochrone.console.as_json import print_json
from isochrone.console.options import add_force, add_option
from isochrone.console.output import check_output
from isochrone.pages.page import Block, Code, Page, Section, Sentence, said
from isochrone.pages.terminal import print_blocks

VERDICT = "Verdict"
"""Title of the section that a page begins with; a terminal prints sections in their order."""


def add_page(parser: ArgumentParser, contents: str) -> None:
    """Add ``--page``, and ``--force`` if the command has none."""
    add_option(parser, "--page", "FILE", Path, f"write an HTML page: {contents}")
    if "--force" not in parser._option_string_actions:
        add_force(parser)


def check_page_file(args: Namespace, inputs: Sequence[Path] = ()) -> None:
    """Refuse a page that may not be written, before anything is measured: as `check_output`."""
    if args.page is not None:
        check_output(args.page, force=args.force, inputs=inputs)


def in_use(lines: Sequence[str]) -> Iterator[Block]:
    """Say what the user types to use what was found."""
    commands = [printable(line, 1400) for line in lines]
    yield Sentence("To use it, without changing the program:")
    yield from (Sentence(f"  {command}", only="terminal") for command in commands)
    yield Code("\n".join(commands))


def tell_decision(
    args: Namespace, document: object, title: str, sections: Sequence[Section], *facts: str
) -> None:
    """Print the sections or the JSON document, and write the page if ``--page`` asks for it.

    Parameters
    ----------
    args
        With ``json`` and ``page``.
    document
        For ``--json``.
    title, sections, facts
        Of the page; ``facts`` are in the line below its title.
    """
    if args.page is not None:
        from isochrone.pages.html.render import write_page

        verdict_first = sorted(sections, key=lambda section: section.title != VERDICT)
        write_page(Page(title, (), facts, None, tuple(verdict_first)), args.page)
    if args.json:
        print_json(document)
        return
    for section in sections:
        if said(section, "terminal"):
            print_blocks(section.blocks)
