"""Improvements: act on a prediction. ONE FILE = ONE THING that can be changed."""
