"""The report: what it says, that it needs nothing else, and that it trusts no text from a file."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.base.files import sha256
from isochrone.base.table import Table
from isochrone.pages.html.render import write_report
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from made_up.hotspots import exchange
from made_up.latency_maps import block, latency_map, mmpi_example
from made_up.sweeps import collective, point_to_point
from rendered import words

HOSTILE = "<script>alert(1)</script>"
HOSTILE_IMAGE = "\"><img src=x onerror='alert(2)'>"


class Page(HTMLParser):
    """What is in a page: tags, attributes, text, headings, ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[tuple[str, str]] = []
        self.text = ""
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        self.text += " " if tag in ("td", "th", "dd", "dt", "li") else ""
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("style", "script"):
            self.text += data
        if re.fullmatch(r"h[1-6]", self._inside):
            tag, before = self.headings[-1]
            self.headings[-1] = (tag, before + data)

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


def report(path: Path, *made: Run) -> tuple[str, Page]:
    write_report(list(made), path / "report.html")
    text = (path / "report.html").read_text("utf-8")
    return text, Page(text)


def on_disk(run: Run, path: Path) -> Run:
    runs.write(run, path)
    return runs.read(path)


def test_it_says_in_words_what_was_found(tmp_path: Path) -> None:
    run = latency_map(block(8, 4), noise=0.0, slow_hosts={"n3": 2.4})
    run.warnings.append({"code": "noisy", "text": "the machine was busy"})
    _, page = report(tmp_path, run)
    for part in (
        "Latency map of 32 ranks on 8 nodes",
        "21 November 2026, 08:30 UTC · MPICH 5.0.2",
        "Ranks on the same node have a round trip of 1.20 µs (602 ns one way)",
        "Ranks on different nodes have a round trip of 9.84 µs (4.92 µs one way)",
        "8.2× the time of the closest ranks",
        "8 nodes, 4 on each (block placement)",
        "Node n3: 2.4x adds 13.8 µs to each of 112 round trips",
        "9.84 µs expected, 23.6 µs measured",
        "the machine was busy",
        "Half a round trip is one way",
        "clock granularity 26.0 ns",
        "total time 12.5 s",
    ):
        assert part in page.words


def test_its_parts_come_in_the_order_in_which_they_are_read(tmp_path: Path, golden: Golden) -> None:
    _, page = report(tmp_path, latency_map(block(2, 4)))
    golden(page.headings)


def test_it_needs_no_network_and_no_file(tmp_path: Path) -> None:
    text, page = report(tmp_path, latency_map(block(2, 4)))
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text
    assert not {tag for tag, _ in page.tags} & {"iframe", "object", "embed", "base"}
    for _, attributes in page.tags:
        for key, value in attributes.items():
            assert not key.startswith("on")
            if key in ("href", "src", "xlink:href"):
                assert (value or "").startswith(("#", "data:"))
    assert not re.search(r"url\((?!#)", text)
    assert "http" not in text.replace("http-equiv", "")


def test_exactly_its_own_script_may_run(tmp_path: Path) -> None:
    """The policy names the hash of the one script; data are of a type that no browser runs."""
    text, page = report(tmp_path, latency_map(block(2, 4)))
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json"}, {}]
    (source,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    assert re.findall(r"script-src ([^;]*);", text) == [f"'sha256-{digest}'"]


def test_a_page_without_a_map_has_no_script(tmp_path: Path) -> None:
    text, page = report(tmp_path, exchange())
    assert "script" not in {tag for tag, _ in page.tags}
    assert "script-src" not in text


def test_pictures_are_described_and_share_no_ids(tmp_path: Path, golden: Golden) -> None:
    first = latency_map(block(2, 4))
    text, page = report(tmp_path, first, first)
    pictures = [a for tag, a in page.tags if tag == "svg" and a.get("role") == "img"]
    assert len(pictures) == 6
    golden([a["aria-label"] for a in pictures])
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"url\(#([^)]*)\)", text)) | set(re.findall(r'href="#([^"]*)"', text))
    assert used <= set(ids)


def test_several_runs_have_a_section_each(tmp_path: Path, golden: Golden) -> None:
    _, page = report(tmp_path, latency_map(block(2, 4)), mmpi_example())
    titles = [text for tag, text in page.headings if tag in ("h1", "h2")]
    golden(titles)
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert links == ["#run-1", "#run-2"] * 2  # from the list at the top, and from what was found


def test_several_runs_open_with_what_was_found_in_each(tmp_path: Path) -> None:
    """Whoever reads nothing else knows which node is slow, what is doubtful, and what is fine."""
    slow = latency_map(block(8, 4), noise=0.0, slow_hosts={"n3": 2.4})
    slow.warnings.append({"code": "noisy", "text": "the machine was busy"})
    partial = latency_map(block(4, 4), missing=lambda i, j: j > 12)
    text, _ = report(tmp_path, slow, exchange(), partial)
    opening = words(text.partition('id="findings"')[2].partition("<article")[0])
    for part in (
        "Ranks on the same node have a round trip of 1.20 µs",
        "Possibly slow (not yet confirmed): node n3: 2.4x adds 13.8 µs",
        "1 warning: the machine was busy",
        "The hot spot is n1",
        "Partial run: the measurement is not complete",
        "Unclear whether any component is slow",
    ):
        assert part in opening


@pytest.mark.slow
def test_runs_stand_in_the_order_of_their_kinds(tmp_path: Path) -> None:
    """First the machine, then messages, then files: not as the files happen to be named."""
    made = exchange(), point_to_point(), mmpi_example(), collective(), point_to_point(window=64)
    _, page = report(tmp_path, *made)
    titles = [text.split()[0] for tag, text in page.headings if tag == "h2"]
    assert titles == [
        "What",
        "2",
        "Latency",
        "Collective",
        "Point-to-point",
        "Point-to-point",
        "Collective",
    ]


def test_two_ranks_have_neither_a_surface_nor_a_hierarchy(tmp_path: Path) -> None:
    """Of one time, these pictures would say nothing."""
    text, _ = report(tmp_path, latency_map(block(2, 1)))
    assert re.findall(r'<figure class="([a-z]+)', text) == ["heatmap"]
    text, _ = report(tmp_path, latency_map(block(3, 1)))
    assert re.findall(r'<figure class="([a-z]+)', text) == ["heatmap", "surface", "levels"]


def test_a_partial_run_is_said_to_be_partial(tmp_path: Path, golden: Golden) -> None:
    _, page = report(tmp_path, latency_map(block(4, 4), missing=lambda i, j: j > 12))
    golden(page.words)
    assert "Partial run" not in report(tmp_path, mmpi_example())[1].words


def test_text_from_a_file_is_text(tmp_path: Path) -> None:
    run = latency_map([HOSTILE] * 3 + [HOSTILE_IMAGE] * 3 + ["n\x1b[31m\u202e"] * 3)
    run.header |= {
        "started": HOSTILE,
        "probe": HOSTILE,
        "notes": {HOSTILE: HOSTILE_IMAGE},
        "mpi": {"library": HOSTILE, "standard": HOSTILE_IMAGE},
        "clock": {HOSTILE: HOSTILE},
        "imported": {HOSTILE: HOSTILE_IMAGE},
        "options": {HOSTILE_IMAGE: HOSTILE, "bytes": HOSTILE, "order": HOSTILE},
    }
    run.warnings.append({"code": HOSTILE, "text": HOSTILE_IMAGE})
    text, page = report(tmp_path, run)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert text.count("<script") == text.count("</script") == 2
    assert "<img" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert page.text.count(HOSTILE) >= 10
    assert HOSTILE_IMAGE in page.text


@pytest.mark.parametrize("damage", [7, "x", ["x"]])
@pytest.mark.parametrize("part", ["options", "mpi", "clock", "notes", "imported"])
def test_a_damaged_header_is_refused_in_one_line(
    part: str, damage: object, tmp_path: Path, golden: Golden
) -> None:
    run = mmpi_example()
    run.header[part] = damage
    with golden.refusal():
        write_report([run], tmp_path / "report.html")


def test_warnings_without_a_text_do_no_harm(tmp_path: Path, golden: Golden) -> None:
    run = mmpi_example()
    run.warnings = [{}, {"text": None}, {"code": 3}]
    _, page = report(tmp_path, run)
    golden(page.words)


def test_a_run_without_pairs_has_no_map(tmp_path: Path, golden: Golden) -> None:
    run = mmpi_example()
    run.tables = {"sample": run.tables["pair"]}
    _, page = report(tmp_path, run)
    golden(page.words)
    run.tables = {"pair": Table()}
    golden(report(tmp_path, run)[1].words)


def test_it_says_which_file_it_is_made_from(tmp_path: Path, golden: Golden) -> None:
    run = on_disk(mmpi_example(), tmp_path / "paper.jsonl")
    _, page = report(tmp_path, run)
    assert str(tmp_path / "paper.jsonl") in page.words
    assert sha256(tmp_path / "paper.jsonl") in page.words
    (tmp_path / "paper.jsonl").unlink()
    golden(report(tmp_path, run)[1].words)


def test_an_imported_run_is_not_said_to_be_measured_by_us(tmp_path: Path, golden: Golden) -> None:
    run = mmpi_example()
    run.header |= {"imported": {"format": "mmpi", "path": "a.log"}, "median_is_mean": True}
    text, page = report(tmp_path, run)
    golden(page.words)
    golden(text)


def test_several_sizes_have_a_table_of_levels(tmp_path: Path) -> None:
    run = latency_map(block(2, 4), noise=0.0, nbytes=(64, 16384))
    _, page = report(tmp_path, run)
    assert "64 B 1.20 µs 9.84 µs" in page.words
    assert "16 KiB 2.40 µs 19.6 µs" in page.words


def test_pseudo_code_keeps_its_lines(tmp_path: Path, golden: Golden) -> None:
    """Control characters are taken out of every text, which must not join the lines of a loop."""
    code = report(tmp_path, mmpi_example())[0].partition("<pre")[2].partition("</pre>")[0]
    assert "\N{REPLACEMENT CHARACTER}" not in code
    lines = [re.sub("<[^>]*>", "", line) for line in code.splitlines()]
    golden(lines)
    assert "            start = MPI_Wtime()" in lines


def test_errors_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run"):
        write_report([], tmp_path / "a.html")
    with pytest.raises(InputError, match="be written"):
        write_report([mmpi_example()], tmp_path / "no" / "a.html")


def test_it_needs_jinja2_and_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, golden: Golden
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with golden.refusal():
        write_report([mmpi_example()], tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_1024_ranks_stay_below_3_mb(tmp_path: Path, golden: Golden) -> None:
    text, page = report(tmp_path, latency_map(block(32, 32, "nid{:05d}"), socket=2.1e-6))
    assert len(text.encode()) < 3_000_000
    golden(page.words)


def test_messages_of_nodes_before_and_after_are_in_one_picture(
    tmp_path: Path, golden: Golden
) -> None:
    before, after = exchange(), exchange()
    text, page = report(tmp_path, before, after)
    assert text.count('class="nodes"') == 1
    golden(page.words)
    golden(text)
