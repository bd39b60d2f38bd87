"""Sentences and tables about programs."""
