"""How Sphinx builds the site: `make docs`.

Every page is plain Markdown that reads as well in a checkout. The site needs nothing from
elsewhere: no fonts, no scripts; formulas are MathML, and the search works from a folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "extensions"), str(DOCS.parent / "src")]

import isochrone  # noqa: E402

project = "Isochrone"
author = "The Isochrone developers"
copyright = author
version = release = isochrone.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "api_reference",
    "command_reference",
    "mathml",
]
exclude_patterns = ["_build", "extensions"]

smartquotes_action = "D"  # dashes of docstrings; quotes are as they are typed
highlight_language = "text"
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4  # as they are made where the checkout is shown

autodoc_class_signature = "separated"  # fields are listed below
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "Isochrone"
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which a browser refuses in a folder
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
html_css_files = ["site.css"]
