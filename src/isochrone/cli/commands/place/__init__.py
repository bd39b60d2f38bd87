"""Order nodes or I/O aggregators so that the hot spot of collective I/O is smallest."""
