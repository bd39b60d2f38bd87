"""Print a completion script for bash, zsh or fish.

Save it where your shell looks for completions, and write it again after an update. Run this on a
machine with MPI: it asks the probe for the options of `measure`.
"""

import argparse

from isochrone.base.text import warn
from isochrone.cli.completion import SHELLS, script
from isochrone.console.options import add_option

EXAMPLES = (
    (
        "for bash",
        "isochrone completion bash > ~/.local/share/bash-completion/completions/isochrone",
    ),
    ("for zsh, in a folder of $fpath", "isochrone completion zsh > ~/.zfunc/_isochrone"),
    ("for fish", "isochrone completion fish > ~/.config/fish/completions/isochrone.fish"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone completion``."""
    add_option(parser, "shell", "SHELL", str, "your shell: " + ", ".join(SHELLS), choices=SHELLS)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    text, with_experiments = script(args.shell)
    print(text)
    if not with_experiments:
        warn(
            "the completion script has no options of experiments: no probe was found "
            "(try: isochrone build)"
        )
    return 0
