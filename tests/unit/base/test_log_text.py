"""Logs of jobs: what launchers, editors and web pages add is removed, lines keep their numbers."""

from __future__ import annotations

import gzip

import pytest

from isochrone.base.log_text import plain

LOG = b"# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n8  1.25\n16  1.5\n"


def prefixed(prefix: bytes) -> bytes:
    return b"".join(prefix + line for line in LOG.splitlines(keepends=True))


@pytest.mark.parametrize(
    "prefix",
    [
        b"[1,0]<stdout>: ",
        b"[1,0]<stdout>:",
        b"[prterun-n1-3@1,12]<stdout>: ",
        b"[1,0]:",
        b"Sat Nov 28 16:00:00 2026[1,0]<stdout>: ",
        b"2026-11-28T16:00:00.123 ",
        b"Tue Aug 14 09:23:30 2018<stdout>:",
        b" 0: ",
        b"- ",
        b"12: ",
        b"[0] ",
        b"x3005c0s13b0n0.hsn.cm.example.org 0: ",
        b"launcher-1  | ",
    ],
)
def test_tags_times_and_labels_are_removed(prefix: bytes) -> None:
    assert plain(prefixed(prefix)) == LOG


ENCODINGS = {
    "plain": LOG,
    "byte-order mark": b"\xef\xbb\xbf" + LOG,
    "UTF-16": LOG.decode().encode("utf-16"),
    "compressed": gzip.compress(LOG),
    "compressed with labels": gzip.compress(prefixed(b"3: ")),
    "escaped comments": LOG.replace(b"#", b"\\#"),
    "ends of lines as editors show them": LOG.replace(b"\n", b"^M\n"),
    "indented comments": LOG.replace(b"#", b"   #"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_encodings_are_read(encoding: str) -> None:
    assert plain(ENCODINGS[encoding]) == LOG


def test_a_number_is_a_label_only_if_every_line_has_one() -> None:
    table = b"0: first\n8  1.25\n1: second\n"
    assert plain(table) == table


def test_a_label_before_a_comment_is_one_of_all_lines() -> None:
    """Protects from losing a table below what the batch system prints."""
    assert plain(b"job 7 starts\n" + prefixed(b"0: ")) == b"job 7 starts\n" + LOG


def test_colours_and_lost_marks_of_comments() -> None:
    assert plain(b"\x1b[1m" + LOG) == LOG
    lost = LOG.replace(b"# OSU", b"OSU")
    assert plain(lost) == LOG


def test_the_beginning_of_a_compressed_log_is_enough() -> None:
    long = LOG + b"".join(b"%d  %d\n" % (k, k * k) for k in range(10_000))
    assert plain(gzip.compress(long)[:4096]).startswith(LOG)


def test_what_is_no_text_is_left_alone() -> None:
    for data in (b"\x1f\x8bno gzip", b"MATLAB\0\0", b""):
        assert plain(data) == data
