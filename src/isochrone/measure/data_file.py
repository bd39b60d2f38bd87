"""The temporary data file of the ranks, from their command line."""

import re
from collections.abc import Sequence
from pathlib import Path

_OPTION = "--file"
_FILE_SYSTEM = re.compile("[A-Za-z0-9]{2,}:")
"""ROMIO's prefixes ``ufs:``, ``lustre:`` …: which driver, no part of the name."""


def data_file(tokens: Sequence[str]) -> Path | None:
    """Return the file that ``--file`` of the probe names in a launcher's command; None: none."""
    programs = [k for k, token in enumerate(tokens) if Path(token).name == "isochrone-probe"]
    options = tokens[programs[-1] :] if programs else ()
    argument = ""
    for k, option in enumerate(options):
        if option == _OPTION:
            argument = "".join(options[k + 1 : k + 2])
        elif option.startswith(_OPTION + "="):
            argument = option.removeprefix(_OPTION + "=")
    return Path(_FILE_SYSTEM.sub("", argument, count=1)) if argument else None
