"""Importers: ONE FILE = ONE FORMAT that is read into a run."""
