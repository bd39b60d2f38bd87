"""Damaged and hostile files through every command that reads them; `make fuzz` for hours of it."""
