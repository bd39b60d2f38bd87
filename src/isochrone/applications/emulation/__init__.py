"""Emulated applications: how long they took, alone and beside each other, and what they did.

`recorded` reads and checks the records, `timing` makes medians with intervals over the repetitions
and says what ranks and phases did, `summary` puts it together.
"""
