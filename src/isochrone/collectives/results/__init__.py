"""Measured operations on grids."""
