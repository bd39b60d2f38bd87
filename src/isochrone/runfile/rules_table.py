"""The rules of run files as a table of a page: ``python -m isochrone.runfile.rules_table``."""

import sys
from math import inf
from pathlib import Path

from isochrone.base.files import write_text
from isochrone.base.table import grouped
from isochrone.runfile.rules import RULES, Rule, Rules

PAGE = "docs/run-file-rules.md"
BEGIN = "<!-- rules: python -m isochrone.runfile.rules_table -->\n"
END = "<!-- end of the rules -->\n"
_TRIED = 5
"""Ranks by which a limit that depends on their number is recognised."""

_LIMITS = {
    _TRIED - 1: "ranks - 1", _TRIED: "ranks", _TRIED // 2: "ranks / 2", 2 * _TRIED**2: "2 ranks²",
}  # fmt: skip


def renewed(page: str) -> str:
    """Return a page with the table as the code has it."""
    before, _, after = page.partition(BEGIN)
    return f"{before}{BEGIN}{_table()}{END}{after.partition(END)[2]}"


def _table() -> str:
    lines = ["| kind | record | keys | values |", "|---|---|---|---|"]
    lines += [
        f"| {kind or 'any'} | `{name}` | {text} |"
        for (kind, name), rules in RULES.items()
        for text in _as_text(rules)
    ]
    return "\n".join(lines) + "\n"


def _as_text(rules: Rules) -> list[str]:
    same = grouped(
        (_range(rule) + ", required" * (rule.needed and key not in rules.may_lack), f"`{key}`")
        for key, rule in rules.members.items()
    )
    texts = [f"{', '.join(keys)} | {words}" for words, keys in same.items()]
    texts += [
        f"`{key}` | " + (" or ".join(f"`{one}`" for one in allowed) or "text")
        for key, allowed in rules.texts.items()
    ]
    texts += [f"`{'`, `'.join(keys)}` | in ascending order" for keys in rules.ordered]
    texts += [f"`{key}` | that of a record `{other}`" for key, other in rules.refers.items()]
    return texts + ["`i`, `j` | `i` < `j`", "times | one value per pair and size"] * rules.pairs


def _range(rule: Rule) -> str:
    most = _LIMITS[int(rule.most(_TRIED))] if callable(rule.most) else _number(rule.most)
    if (rule.least, most) == (-inf, "inf"):
        return "any integer"
    words = f"{'integer, ' * rule.whole}{_number(rule.least)} … {most}"
    return words + (f", if not 0 at least {rule.above_zero:g}" if rule.above_zero else "")


def _number(value: float) -> str:
    exponent = abs(int(value)).bit_length() - 1 if abs(value) < inf else 0
    if exponent > 40 and abs(value) == 1 << exponent:
        return f"{'-' * (value < 0)}2^{exponent}"
    return f"{value:g}"


def main() -> int:
    """Write the table into the page again."""
    path = Path(PAGE)
    write_text(path, renewed(path.read_text("utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
