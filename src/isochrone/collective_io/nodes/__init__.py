"""The best and the worst order of nodes."""
