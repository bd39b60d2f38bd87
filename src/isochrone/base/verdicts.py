"""The verdict words, the same in show, check, compare, history, reports, JUnit and JSON."""

from typing import Final, Literal

Change = Literal["slower", "faster", "same", "not known"]
"""A ratio of two times; *not known*: none of the others is proved."""

SLOWER: Final = "slower"
FASTER: Final = "faster"
SAME: Final = "same"
NOT_KNOWN: Final = "not known"

NOT_KNOWN_EXIT: Final = 4
"""Exit code of a command that was asked for a verdict, where it is not known."""

GOOD: Final = "good"
SLOW: Final = "slow"
"""Slow compared with peers, and confirmed by a second measurement."""

POSSIBLY_SLOW: Final = "possibly slow"
"""Slow compared with peers, not yet confirmed."""
