"""Manage the reference runs that `check` compares with."""
