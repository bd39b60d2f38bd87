"""Pages: the text, tables and figures of a result as data, and how they are shown.

`page` defines the elements of a page, `common` makes those of every run. One file in the `kinds` of
a subject makes the page of one kind of result. `terminal` and `html` render any page.
"""
