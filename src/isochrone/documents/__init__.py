"""JSON documents that commands print and files hold, each declared as a JSON Schema.

`isochrone.documents.declared` holds the declarations, ONE FILE = ONE DOCUMENT; `document` says what
one is, `shapes` has the words they are written in, and `schemas` writes them to ``docs/schema``.
"""
