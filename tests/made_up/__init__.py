"""Runs, machines and times made up from formulas whose truth is known: the one place for them."""
