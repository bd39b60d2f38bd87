"""The files of a package: ``{source-files}`` lists each with the first line of its docstring."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["setup"]


class SourceFiles(SphinxDirective):
    """List the files of a package, folder by folder."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a list of definitions for each folder."""
        spec = find_spec(self.arguments[0])
        assert spec is not None and spec.origin is not None
        root = Path(spec.origin).parent
        found: list[nodes.Node] = []
        for folder in sorted({path.parent for path in root.rglob("*.py")}):
            listed = nodes.bullet_list()
            for path in sorted(folder.glob("*.py")):
                text = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition(
                    "\n"
                )[0]
                line = nodes.paragraph(
                    "", "", nodes.literal(text=path.name), nodes.Text(f" {text}")
                )
                listed += nodes.list_item("", line)
            name = folder.relative_to(root.parent).as_posix()
            found += [nodes.rubric(text=name), listed]
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("source-files", SourceFiles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
