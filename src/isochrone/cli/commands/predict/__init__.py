"""Predict times from models."""
