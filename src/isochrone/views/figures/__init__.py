"""Figures: ONE FILE = ONE FIGURE."""
