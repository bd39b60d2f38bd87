"""The report: one offline HTML file made from runs.

`build` puts it together, `words` says what was found, `tables` lists it, `pictures` makes the views
of `isochrone.views` part of the page; ``template.html.j2`` and ``style.css`` are how it looks.
"""
