"""Measuring: the probe, how it is started, what is measured, and for how long."""
