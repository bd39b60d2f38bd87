"""Pages of the results of collective I/O."""
