"""Arguments of a program that depend on the number of ranks."""

from isochrone.cli.program import for_ranks


def test_what_stands_for_ranks_is_replaced() -> None:
    words = ["./a", "{ranks}", "{grid3}", "--grid={grid2}", "--grid={grid2:x}", "{grid3:/}", "{n}"]
    assert for_ranks(words, 12) == [
        "./a",
        "12",
        "3",
        "2",
        "2",
        "--grid=4,3",
        "--grid=4x3",
        "3/2/2",
        "{n}",
    ]
    assert for_ranks(["{grid4}"], 32) == ["4", "2", "2", "2"]
    assert for_ranks(["{ranks}{grid2}"], 7) == ["77,1"]
