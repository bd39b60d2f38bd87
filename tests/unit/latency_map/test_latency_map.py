"""What is said of a latency map, as data: the same for a terminal and a report."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.changes.check import check
from isochrone.latency_map import topology
from isochrone.latency_map.kinds.latency_map import PAGE, captions, placement_in_words, where
from isochrone.latency_map.slow_part import NotUnderstood
from isochrone.latency_map.topology import Level, Placement
from isochrone.pages.page import (
    AS_USUAL,
    Asked,
    Block,
    Code,
    Later,
    Listing,
    LiveMap,
    Picture,
    Section,
    Sentence,
    Table,
    Tiles,
    Warnings,
    said,
)
from isochrone.runfile.run import Run
from made_up.latency_maps import (
    block,
    cyclic,
    flat,
    latency_map,
    map_of,
    mmpi_example,
    noisy,
    with_retests,
)


def blocks(run: Run, nbytes: int | None = None) -> list[Block]:
    return [
        part
        for section in PAGE.sections(run, Asked(nbytes))
        for block in section.blocks
        for part in (block.make() if isinstance(block, Later) else [block])
    ]


def tables(run: Run, nbytes: int | None = None) -> list[Table]:
    return [part for part in blocks(run, nbytes) if isinstance(part, Table)]


def texts(run: Run, nbytes: int | None = None) -> list[str]:
    return [part.text for part in blocks(run, nbytes) if isinstance(part, Sentence)]


def on_terminal(sections: list[Section]) -> list[Block]:
    return [
        part
        for section in sections
        if said(section, "terminal")
        for part in section.blocks
        if said(part, "terminal")
    ]


def test_its_levels_are_tiles_sentences_and_one_table(golden: Golden) -> None:
    run = latency_map(block(2, 4), noise=0.0)
    (tiles,) = (part for part in blocks(run) if isinstance(part, Tiles))
    assert [tile.value for tile in tiles.items] == ["1.20 µs", "9.84 µs"]
    assert [tile.note for tile in tiles.items] == ["round trip", "round trip, 8.2× the closest"]
    levels = tables(run)[0]
    golden(levels.title)
    assert levels.on("terminal").rows[0].cells == (
        "0  node",
        "1.20 µs",
        "602 ns",
        "12",
        "0-3 | 4-7",
    )
    golden(levels.rows[1].cells[1])
    assert levels.rows[1].cells[4] == "8.2×"


def test_a_terminal_gets_levels_placement_findings_and_nothing_long(golden: Golden) -> None:
    run = latency_map(block(8, 4), noise=0.0, slow_hosts={"n3": 2.4}, nbytes=(64, 1024))
    kinds = [type(part) for part in on_terminal(list(PAGE.sections(run, AS_USUAL)))]
    assert kinds == [Table, Sentence, Listing, Warnings, Sentence]
    golden(texts(run))


def test_what_is_slow_is_listed_with_ratio_and_evidence(golden: Golden) -> None:
    run = latency_map(block(8, 4), noise=0.0, slow_hosts={"n3": 2.4})
    run = with_retests(run, [(0, 12), (1, 13), (2, 14), (3, 15)], factor=1.0)
    (listing,) = (part for part in blocks(run) if isinstance(part, Listing))
    (item,) = listing.items
    golden((listing.title, listing.tone))
    assert item.about == "node n3"
    golden(item.text)
    assert item.stress == ("2.4x",)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_where_something_slow_would_not_be_seen_nothing_is_called_good(number: int) -> None:
    """By `show` and `check` alike: few ranks, few nodes, pairs that were not measured."""
    dice = np.random.default_rng(number)
    for size in range(2, 9):
        for hosts in (["n0"] * size, block(2, size)[:size], block(size)):
            times = noisy(flat(size), 0.05, int(dice.integers(1 << 30)))
            times[0, 1] = times[1, 0] = times[0, 1] * dice.choice([1.0, 1.2, 1.9])
            if size > 5 and len(set(hosts)) != 2:
                times[2, 5] = times[5, 2] = np.nan
            run = map_of(times, hosts)
            good = [
                one.text for one in blocks(run) if isinstance(one, Sentence) and one.tone == "good"
            ]
            assert not good, (size, hosts)
            if size < 6:
                assert check(run).verdict == "not known", (size, hosts)


def test_what_was_not_measured_again_is_suspected_and_never_slow(golden: Golden) -> None:
    run = latency_map(block(8, 4), noise=0.0, slow_hosts={"n3": 2.4})
    (listing,) = (part for part in blocks(run) if isinstance(part, Listing))
    golden(listing.title)
    assert listing.items[0].about == "node n3"
    golden(texts(run))
    (entry,) = plain(PAGE.document(run, AS_USUAL))["slow"]
    assert entry["suspected"] is True
    again = with_retests(run, [(0, 12), (1, 13), (2, 14), (3, 15)], factor=1.0)
    (entry,) = plain(PAGE.document(again, AS_USUAL))["slow"]
    assert not entry.get("suspected")


@pytest.mark.parametrize(
    ("not_understood", "text"),
    [
        (NotUnderstood(49, 1.003, 1.42), "49 differ by up to 1.4x from"),
        (NotUnderstood(49, 1.03, 1.42), "49 differ by 1.03x to 1.4x from"),
        (NotUnderstood(1, 1.3, 1.3), "1 differs by 1.3x from"),
    ],
)
def test_factors_of_unexplained_pairs(
    monkeypatch: pytest.MonkeyPatch, not_understood: NotUnderstood, text: str
) -> None:
    """Protects from pairs that differ by 1.0x, which is no difference."""
    run = latency_map(block(8, 4), noise=0.0)
    found = replace(topology.analyse(run), not_understood=not_understood)
    monkeypatch.setattr(topology, "analyse", lambda *_: found)
    assert any(text in one for one in texts(run))


def test_a_healthy_machine_is_said_to_be_healthy(golden: Golden) -> None:
    golden(texts(latency_map(block(8, 4), noise=0.0)))


def test_many_slow_parts_are_counted(golden: Golden) -> None:
    slow = {k: 2.0 + k / 10 for k in range(1, 120, 9)}
    run = latency_map(block(16, 8), noise=0.0, slow_ranks=slow)
    (listing,) = (part for part in blocks(run) if isinstance(part, Listing))
    assert len(listing.items) == 12
    golden(listing.more)


def test_another_size_may_be_chosen_and_the_rest_is_mentioned(golden: Golden) -> None:
    run = latency_map(block(2, 4), noise=0.0, nbytes=(64, 16384))
    golden(tables(run, 16384)[0].title)
    golden(texts(run, 16384))
    by_size = tables(run)[1]
    assert [row.cells for row in by_size.rows] == [
        ("64 B", "1.20 µs", "9.84 µs"),
        ("16 KiB", "2.40 µs", "19.6 µs"),
    ]


def test_the_analysis_is_made_once_and_handed_to_the_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes seconds for a thousand ranks."""
    calls = []
    true = topology.analyse
    monkeypatch.setattr(topology, "analyse", lambda *a: calls.append(a) or true(*a))
    parts = blocks(latency_map(block(2, 4)))
    pictures = [
        part.picture if isinstance(part, LiveMap) else part
        for part in parts
        if isinstance(part, LiveMap | Picture)
    ]
    assert [picture.view for picture in pictures] == ["heatmap", "surface", "levels"]
    assert len(calls) == 1
    assert all(picture.options.analysis is not None for picture in pictures)


def test_the_loop_is_shown_only_of_what_was_measured_by_it() -> None:
    measured, made_up = mmpi_example(), mmpi_example()
    made_up.header["experiment"] = "null"
    imported = mmpi_example()
    imported.header["imported"] = {"format": "mmpi"}
    shown = [
        any(isinstance(part, Code) for part in blocks(run)) for run in (measured, made_up, imported)
    ]
    assert shown == [True, False, False]


@pytest.mark.parametrize(
    ("hosts", "kind", "text"),
    [
        (["a"] * 4, "block", "All 4 ranks ran on one node, a."),
        (["a", "b", "c"], "block", "Each of the 3 ranks ran on its own node."),
        (cyclic(2, 2), "cyclic", "distributed round-robin over the nodes: 2 nodes, 2 on each"),
        (["a", "b", "a"], "irregular", "irregularly: 2 nodes, between 1 and 2 on one"),
        ([""] * 2, "block", "not recorded"),
    ],
)
def test_placement_in_words(hosts: list[str], kind: str, text: str) -> None:
    counts = tuple(hosts.count(host) for host in dict.fromkeys(hosts))
    placement = Placement(kind, tuple(dict.fromkeys(hosts)), counts)
    assert text in placement_in_words(placement)


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (
            [("package", [[0, 1], [2, 3], [4, 5], [6, 7]]), ("node", [[0, 1, 2, 3], [4, 5, 6, 7]])],
            "on the same node but on different processors",
        ),
        (
            [("group", [[0, 1], [2, 3], [4, 5], [6, 7]]), ("node", [[0, 1, 2, 3], [4, 5, 6, 7]])],
            "on the same node but more distant",
        ),
        (
            [("group", [[0, 1], [2, 3], [4, 5], [6, 7]])],
            "in the same group of 2 ranks within a node",
        ),
        (
            [("group", [[0], [1, 2, 3], [4, 5], [6, 7]])],
            "in the same group of 1 to 3 ranks within a node",
        ),
        ([("core", [[0, 1], [2, 3], [4, 5], [6, 7]])], "on the same core (SMT siblings)"),
        ([("l2", [[0, 1], [2, 3], [4, 5], [6, 7]])], "on cores that share an L2 cache"),
        ([("l3", [[0, 1], [2, 3], [4, 5], [6, 7]])], "on cores that share an L3 cache"),
        (
            [("l3", [[0, 1], [2, 3], [4, 5], [6, 7]]), ("node", [[0, 1, 2, 3], [4, 5, 6, 7]])],
            "on the same node but on cores that share no L3 cache",
        ),
        (
            [("node", [[0, 1, 2, 3], [4, 5, 6, 7]]), ("network", [list(range(8))])],
            "on different nodes",
        ),
        (
            [("group", [[0, 1, 4, 5], [2, 3], [6, 7]])],
            "on different nodes of one group of 1 to 2 nodes",
        ),
        (
            [("group", [[0, 4], [1, 5]]), ("network", [list(range(8))])],
            "in different groups of nodes",
        ),
    ],
)
def test_levels_in_words(levels: list[tuple[str, list[list[int]]]], words: str) -> None:
    made = [
        Level(k, name, 1e-6 * 3**k, 0.0, 1.0, 5, groups) for k, (name, groups) in enumerate(levels)
    ]
    assert where(made, len(made) - 1, ["a"] * 4 + ["b"] * 4).startswith(words)


@pytest.mark.parametrize(
    "sizes",
    [
        ([1, 1, 2, 4, 4, 4], [2, 2, 4, 8], [4, 4, 8]),  # no two with the same least and greatest
        ([4, *[1] * 12], [4, 2, *[1] * 10], [4, 2, 2, *[1] * 8]),  # all the same
    ],
)
@pytest.mark.parametrize("hosts", [["a"] * 16, [""] * 16, [f"n{k}" for k in range(16)]])
def test_no_two_levels_have_the_same_caption(
    sizes: tuple[list[int], ...], hosts: list[str]
) -> None:
    """Protects the tiles of a report, where the caption alone tells two times apart."""
    ends = [np.cumsum(own)[:-1] for own in sizes]
    groups = [[own.tolist() for own in np.split(np.arange(16), end)] for end in ends]
    made = [Level(k, "group", 1e-6 * 3**k, 0.0, 1.0, 5, own) for k, own in enumerate(groups)]
    words = captions(made, hosts)
    assert len({*words}) == len(words)
    assert any("switch" in text for text in words) == (hosts[1] == "n1")
