"""Sections of the evaluation: one module each, with TITLE and `evaluate`."""
