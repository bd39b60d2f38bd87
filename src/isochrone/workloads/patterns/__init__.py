"""Access patterns: ONE FILE = ONE PATTERN."""
