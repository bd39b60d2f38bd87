"""Tuning of a program's collective I/O: record, choose, verify."""
