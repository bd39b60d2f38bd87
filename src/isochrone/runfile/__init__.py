"""The run file: one measurement, and which of its samples count."""
