"""Orders compared: what is expected of them, and what they take."""
