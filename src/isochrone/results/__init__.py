"""Kinds of results: what a run means, as structs. ONE FILE OR FOLDER = ONE KIND OF RESULT."""
