"""Kinds of results of this subject: ONE FILE = ONE KIND, named as in the header of a run."""
