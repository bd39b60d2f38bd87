"""Launchers: ONE FILE = ONE LAUNCHER; each returns the argv tokens that start the ranks."""
