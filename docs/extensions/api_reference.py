"""The Python interface, from its docstrings: ``{public-names}`` lists what ``__all__`` holds."""

from __future__ import annotations

import inspect
from importlib import import_module

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["setup"]


class PublicNames(SphinxDirective):
    """Document the public names of a package: functions first, classes with their members."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what autodoc makes of each name."""
        package = import_module(self.arguments[0])
        found = {name: getattr(package, name) for name in package.__all__}
        lines = ["```{eval-rst}"]
        for name in sorted(found, key=lambda name: (inspect.isclass(found[name]), name)):
            path = f"{package.__name__}.{name}"
            if inspect.isclass(found[name]):
                lines += [
                    f".. autoclass:: {path}",
                    "   :members:",
                    "   :exclude-members: __init__, __new__",
                ]
            elif callable(found[name]):
                lines.append(f".. autofunction:: {path}")
            lines.append("")
        lines.append("```")
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, "docs/python.md"), self.content_offset, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
