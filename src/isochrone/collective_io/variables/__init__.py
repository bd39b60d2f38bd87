"""Variables that models of this subject have: ONE FILE = THE VARIABLES OF ONE EXPERIMENT."""
