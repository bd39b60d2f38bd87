"""Predicted cost of a collective call."""
