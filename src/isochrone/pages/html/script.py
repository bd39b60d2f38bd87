"""The one script of a page: its modules joined, and its data as text that cannot end its element.

The modules are plain JavaScript without a library, joined in the order below into one function.
A page allows this text by its hash and no other script, so nothing that a file smuggled in runs.
"""

import base64
import hashlib
import re
from importlib import resources

import msgspec

MODULES = (
    "elements",
    "times",
    "packed",
    "matrix",
    "orders",
    "shades",
    "filters",
    "painting",
    "marks",
    "words",
    "tables",
    "controls",
    "moving",
    "explorer",
    "start",
)
"""Files ``NAME.js`` in this folder; each may use what those before it define."""

_COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)
_UNSAFE = re.compile(r"[<>&\u2028\u2029]")


def joined() -> str:
    """Return the script of a page, without its comments."""
    folder = resources.files("isochrone.pages.html")
    scripts = [(folder / f"{name}.js").read_text("utf-8") for name in MODULES]
    return '"use strict";\n(() => {\n' + _COMMENT.sub("", "".join(scripts)) + "})();\n"


def allowed_by(script: str) -> str:
    """Return what a content security policy names to allow exactly this script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def as_text(data: dict[str, object]) -> str:
    """Return data as JSON for a ``script`` element that is not run.

    The characters that could end the element, or begin a comment in it, are written as escapes.
    """
    text = msgspec.json.encode(data).decode()
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
