"""Manage the reference runs that `check` compares with: add, remove, list, show."""
