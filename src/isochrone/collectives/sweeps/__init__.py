"""Sweeps of grids of ranks: ONE FILE = ONE MEMBER of samples that makes a sweep special."""
