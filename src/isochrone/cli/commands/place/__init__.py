"""Place nodes or I/O aggregators such that collective I/O has the least hot spot."""
