"""Readers of samples to fit: ONE FILE = ONE MEMBER of samples beyond a plain sweep."""
