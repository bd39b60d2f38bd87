"""Comparison of orders: expected and measured times."""
