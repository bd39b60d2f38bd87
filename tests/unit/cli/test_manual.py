"""Manual pages: one for each command, with all it takes, and nothing that roff stumbles over."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess

import pytest

from beds.golden import Golden
from isochrone.cli.main import parser
from isochrone.cli.manual import pages
from isochrone.cli.parser import load_all, subcommands
from isochrone.measure.probe import Option

OPTIONS = {"latency-map": [Option("order", "quiet|rounds", "which pairs; .1 or 'all'")]}


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return pages(OPTIONS)


def test_every_command_has_a_page_with_all_its_options(found: dict[str, str]) -> None:
    top = parser()
    for command in load_all(top):
        page = found[f"{command.prog.replace(' ', '-')}.1"].replace("\\-", "-")
        for action in command._actions:
            if action.help is argparse.SUPPRESS:
                continue
            for name in action.option_strings:
                assert f"\\fB{name}\\fR" in page
        for _, line in command.examples:
            assert line in page.replace("\\e", "\\").replace("\\[u2026]", "…")
    for name in subcommands(top):
        assert f"\\fB{name}\\fR" in found["isochrone.1"].replace("\\-", "-")


def test_experiments_are_described_as_the_probe_does(found: dict[str, str], golden: Golden) -> None:
    page = found["isochrone-measure.1"]
    golden(page)
    assert "\\fB\\-\\-order\\fR \\fIquiet|rounds\\fR\nwhich pairs" in page


def test_no_line_of_text_is_a_request_of_roff(found: dict[str, str]) -> None:
    """A line that begins with a dot would vanish."""
    known = r"\.(TH|SH|TP|PP|RS|RE|nf|fi|BR)\b"
    for page in found.values():
        assert all(re.match(known, line) for line in page.splitlines() if line.startswith("."))
        assert page.isascii()


def test_groff_takes_all_of_them(found: dict[str, str]) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("there is no groff")
    for name, page in found.items():
        answer = subprocess.run(
            [groff, "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, timeout=60
        )
        assert answer.returncode == 0
        wrong = [line for line in answer.stderr.splitlines() if "adjust" not in line]
        assert not wrong, name
