"""Exporters: ONE FILE = ONE FORMAT that a run is written to."""
