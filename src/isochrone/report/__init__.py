"""The report: one offline HTML file made from a run."""
