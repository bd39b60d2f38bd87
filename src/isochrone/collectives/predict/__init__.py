"""What operations on grids cost, by models."""
