"""Manage the earlier runs with which `check` compares new ones."""
