"""The report: pages as one HTML file that is read from disk and can be sent to anybody.

`render` puts it together, `svg` makes a figure of `isochrone.views` part of the page;
``page.html.j2`` and ``style.css`` are how it looks.
"""
