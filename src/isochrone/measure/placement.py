"""What a placement file is: it makes a launcher put ranks on nodes in the order that we want.

`isochrone.formats.placements` holds the formats, one per file; each file ends in its `Placement`.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.text import command_line, shell_word
from isochrone.measure.arrangement import Arrangement


class LaunchPlan(Record):
    """How a launcher is started such that it uses the file.

    Attributes
    ----------
    launcher
        Its name in `isochrone.measure.launchers`.
    words
        The user's words of the launcher before its options, e.g. ``mpiexec -n 16``.
    options
        What is added for the file.
    environ
        Variables that are set for it.
    """

    launcher: str
    words: Sequence[str]
    options: Sequence[str] = ()
    environ: Mapping[str, str] = {}

    def line(self, program: str = "./a.out") -> str:
        """Return the command line for a person."""
        variables = [f"{key}={shell_word(value)}" for key, value in self.environ.items()]
        return " ".join([*variables, command_line([*self.words, *self.options]), program])


def absolute(path: Path) -> str:
    """Return a path that means the same wherever the job is started."""
    return str(path.absolute())


def within_option(path: Path) -> str:
    """Return such a path for an option of Open MPI that has other parts: ``rankfile:file=…:…``.

    Raises
    ------
    InputError
        If it has one of the signs that part them.
    """
    text = absolute(path)
    if any(sign in text for sign in ":,;"):
        raise InputError(
            "Open MPI cannot use a path with a colon, comma or semicolon",
            where=text,
            hint="choose another name",
        )
    return text


class Placement(Record):
    """A format of placement files.

    Attributes
    ----------
    file
        The usual name of the file.
    text
        Returns what is in it.
    launcher
        Name of the launcher that uses it.
    words
        The user's words of the launcher before its options; ``{ranks}`` is the number of ranks.
    options, environ
        Options and variables that are added for the file; ``{path}`` is its path, …
    path
        … which this returns as the launcher takes it.
    """

    file: str
    text: Callable[[Arrangement], str]
    launcher: str
    words: str
    options: Sequence[str] = ()
    environ: Mapping[str, str] = {}
    path: Callable[[Path], str] = absolute

    def start(self, path: Path, ranks: int) -> LaunchPlan:
        """Return how the launcher uses the file at a path, for a number of ranks."""
        file_name = self.path(path)
        return LaunchPlan(
            self.launcher,
            self.words.format(ranks=ranks).split(),
            [option.format(path=file_name) for option in self.options],
            {key: value.format(path=file_name) for key, value in self.environ.items()},
        )


names, load = registry.family("formats.placements", "PLACEMENT", Placement)
"""The formats, as the user types them; one by its name."""


def hosts_of_ranks(arrangement: Arrangement) -> str:
    """Return a line for each rank: its host."""
    return "".join(f"{host}\n" for host in arrangement.hosts())
