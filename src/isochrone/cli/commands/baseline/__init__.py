"""Manage reference runs for `check` (add, remove, list, show)."""
