"""Grids of ranks whose sides are as equal as whole numbers allow."""


def balanced(ranks: int, dimensions: int) -> list[int]:
    """Return sides of a grid of that many ranks, as equal as whole numbers allow, largest first."""
    if dimensions == 1:
        return [ranks]
    best = [ranks, *[1] * (dimensions - 1)]
    for side in (s for s in range(1, ranks + 1) if ranks % s == 0 and s**dimensions <= ranks):
        shape = sorted([*balanced(ranks // side, dimensions - 1), side], reverse=True)
        best = min(best, shape, key=lambda sides: (sum(sides), sides))
    return best
