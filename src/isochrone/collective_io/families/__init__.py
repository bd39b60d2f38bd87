"""Families of formulas of this subject: ONE FILE = ONE FAMILY."""
