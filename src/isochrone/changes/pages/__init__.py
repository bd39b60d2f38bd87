"""The results of this subject as text."""
