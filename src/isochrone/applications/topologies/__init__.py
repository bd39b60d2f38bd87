"""Topologies of exchanges: one file each, named as in descriptions."""
