"""Any other launcher, by a command template, e.g. 'ibrun -n {ranks} {program}'."""

import argparse
import shlex

from isochrone.base.errors import InputError
from isochrone.measure.launcher import Job, Launcher, Options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the template to ``isochrone measure``."""
    group = parser.add_argument_group("options of --launcher generic")
    add = group.add_argument(
        "--launcher-template",
        default="",
        metavar="COMMAND",
        help="launch command, such as 'ibrun -n {ranks} {program}'",
    )
    add.expert = True  # type: ignore[attr-defined]


def asked_for(options: Options) -> bool:
    """Detect by the template, which only this launcher has."""
    return bool(options.get("launcher_template"))


def command(job: Job) -> list[str]:
    """Return the tokens of the template, ``{ranks}`` and ``{program}`` filled in.

    The template is split into tokens as a shell would, but no shell sees it. ``{program}`` stands
    for the probe with all its options and is appended where the template does not have it.

    Raises
    ------
    InputError
        If there is no template, or it cannot be split.
    """
    template = str(job.options.get("launcher_template", ""))
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise InputError(
            f"{template!r} is not a valid command: {error}", where="--launcher-template"
        ) from error
    if not words:
        raise InputError(
            "the generic launcher needs a command",
            hint="give --launcher-template 'ibrun -n {ranks} {program}'",
        )
    if "{program}" not in words:
        words.append("{program}")
    tokens = []
    for word in words:
        if word == "{program}":
            tokens += [*job.extra, *job.program]
        else:
            tokens.append(word.replace("{ranks}", str(job.ranks)))
    return tokens


LAUNCHER = Launcher(command=command, add_arguments=add_arguments, asked_for=asked_for)
