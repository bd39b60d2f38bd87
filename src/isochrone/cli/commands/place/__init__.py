"""Reorder nodes or I/O aggregators to reduce hot spots of collective I/O."""
