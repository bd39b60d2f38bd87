"""Measured hot spots and collective calls."""
