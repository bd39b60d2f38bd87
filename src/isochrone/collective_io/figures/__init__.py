"""Figures of this subject: ONE FILE = ONE FIGURE."""
