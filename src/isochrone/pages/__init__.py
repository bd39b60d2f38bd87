"""Pages: the text, tables and figures of a result as data, and how they are shown.

`page` holds the parts of a page. One file in `kinds` says everything of one kind of result,
`common` what is said of every run, `clocks` what is said where clocks were synchronised;
`comparison` and `model` say what ``compare`` and ``fit`` found. `terminal` and `html` render any
page and add nothing to it.
"""
