"""The order of nodes: which is best, and which is worst."""
