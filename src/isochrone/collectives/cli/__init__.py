"""Shared parts of the commands for collective operations."""
