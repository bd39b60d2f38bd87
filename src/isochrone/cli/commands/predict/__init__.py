"""Predict a time from a model file."""
