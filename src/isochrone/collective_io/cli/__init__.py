"""Shared parts of the commands for collective I/O."""
