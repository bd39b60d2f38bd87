"""Figures as parts of a page."""

from __future__ import annotations

from isochrone.pages.html.svg import inline


def test_inline_svg_takes_the_colours_of_the_page_and_keeps_to_itself() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'width="9pt" viewBox="0 0 9 9"><metadata>m</metadata><defs><style>*{color:red}</style>'
        '<clipPath id="p1"/></defs><g id="g1" clip-path="url(#p1)"><use xlink:href="#p1"/>'
        '<text style="fill: #1f2430; font-family: A, B">a &lt; b</text></g></svg>'
    )
    out = inline(svg, "x", 'say "a"')
    assert "style>" not in out
    assert "metadata" not in out
    assert "xmlns" not in out
    assert 'id="x-p1"' in out
    assert 'clip-path="url(#x-p1)"' in out
    assert '<use href="#x-p1"' in out
    assert "g1" not in out
    assert "fill: var(--ink); font-family: inherit" in out
    assert "a &lt; b" in out
    assert 'aria-label="say &quot;a&quot;"' in out
