"""What changed: two measurements compared, a run checked, baselines, history."""
