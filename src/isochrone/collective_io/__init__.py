"""Collective I/O: hot spots, access patterns, whole calls, aggregators, node orders, programs."""
