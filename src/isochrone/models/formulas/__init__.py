"""What may describe times: terms, families, their fit to points, and how they are written."""
