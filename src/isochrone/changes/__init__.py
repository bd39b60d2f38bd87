"""Changes: comparison of two measurements, checks of a run, baselines, history."""
