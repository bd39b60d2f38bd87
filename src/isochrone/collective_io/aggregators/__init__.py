"""Aggregators of collective I/O: order, number, buffers, and the hints that set them."""
