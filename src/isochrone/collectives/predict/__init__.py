"""Predicted times of operations on grids."""
