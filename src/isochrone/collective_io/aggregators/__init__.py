"""Aggregators of collective I/O: their order, their number, their buffers, and the hints for it."""
