"""The one script of a page, and data beside it."""

from __future__ import annotations

import json
import re
from importlib import resources

from isochrone.pages.html.script import MODULES, as_text, joined


def test_every_module_is_joined_once() -> None:
    folder = resources.files("isochrone.pages.html")
    files = {path.name for path in folder.iterdir() if path.name.endswith(".js")}
    assert files == {f"{name}.js" for name in MODULES}
    assert len(set(MODULES)) == len(MODULES)


def test_it_asks_for_nothing_and_makes_no_markup_of_text() -> None:
    """Nothing is loaded, kept or evaluated, and no string becomes HTML."""
    for word in (
        "fetch(",
        "XMLHttp",
        "import(",
        "eval(",
        "Function(",
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "localStorage",
        "cookie",
        "http",
        "</script",
    ):
        assert word not in joined()


def test_names_are_defined_once() -> None:
    """Modules share one scope: a second function of a name would silently replace the first."""
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", joined(), re.MULTILINE)
    assert len(names) > 50
    assert len(set(names)) == len(names)


def test_data_cannot_end_their_element_and_are_unchanged() -> None:
    data = {"a": "</script><!--<script>", "b": ["&amp;", "\u2028\u2029", '"\\'], "c": 1.5e-6}
    text = as_text(data)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == data
