"""Families of formulas: ONE FILE = ONE FAMILY, a declaration; nothing else lives here."""
