"""Limits of times in all files."""

MAX_SECONDS = 1e9
"""A longer time than a generation is a damaged number."""

MIN_SECONDS = 1e-12
"""Smallest positive time: no clock distinguishes smaller ones from zero."""
