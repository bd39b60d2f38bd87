"""What was measured of operations on grids."""
