"""Which grid or algorithm for which collective operation, where the gain is certain."""
