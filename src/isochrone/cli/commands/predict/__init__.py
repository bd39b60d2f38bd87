"""Predict the time of messages, collectives, I/O or applications."""
