"""Documents: ONE FILE = ONE DOCUMENT, named as after ``isochrone show --schema``.

Each file ends in its `isochrone.documents.document.Document`, called ``DOCUMENT``.
"""
