"""``--json``, and ``--schema``, which says what that prints."""

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence

from isochrone.base.documents import plain
from isochrone.console.options import experts_only


def add_json(parser: ArgumentParser) -> None:
    """Add both to a command; what its ``--json`` prints its ``DOCUMENTS`` declare."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    schema = parser.add_argument(
        "--schema",
        action=_Schema,
        nargs="?",
        metavar="NAME",
        help="print the JSON Schema of the --json output (or of the document NAME), and exit",
    )
    experts_only(schema)


def print_json(document: object) -> None:
    """Print one document."""
    print(json_text(document))


def json_text(document: object, indent: int | None = None) -> str:
    """Return a document as JSON. What is NaN or infinite is null: JSON has neither."""
    import json  # few commands print it

    return json.dumps(plain(document), indent=indent, allow_nan=False)


class _Schema(Action):
    """Prints a schema and ends, whatever else is asked for."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        from isochrone.console import documents  # which looks at every command

        if values is None:
            print(documents.text(documents.printed_by(parser.prog.partition(" ")[2])), end="")
        elif values in (names := documents.names()):
            print(documents.text(documents.schema(str(values))), end="")
        else:
            listing = ", ".join(names)
            parser.error(
                f"argument --schema: there is no document '{values}' (there are: {listing})"
            )
        parser.exit()
