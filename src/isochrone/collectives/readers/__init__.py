"""Readers of samples to fit: ONE FILE = ONE MEMBER of a run that says more than a plain sweep."""
