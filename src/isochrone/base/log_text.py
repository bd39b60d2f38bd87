"""Logs of jobs as the programs wrote them: without what launchers, editors and web pages add."""

import re
import zlib

_GZIP = b"\x1f\x8b"

_MOST = 1 << 28
"""Bytes of a decompressed log: more is no log of a benchmark."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

_TAG = rb"\[(?:[^\]\s]*@)?\d+,\d+\](?:<std(?:out|err|diag)>)?:?"
"""Of ``mpirun --tag-output``, Open MPI 3 to 5: job and rank."""

_TIME = rb"(?:\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*)"
"""Of ``mpirun --timestamp-output`` and of batch systems."""

_TAGGED = re.compile(
    rb"^(?:" + _TIME + rb" *(?:" + _TAG + rb"|<std(?:out|err|diag)>:)?|" + _TAG + rb") ?"
    rb"|" + _TIME + rb" *" + _TAG + rb" ?",
    re.MULTILINE,
)
"""A rank that writes a line in parts has tags within it, too."""

_LABEL = re.compile(rb"^(?: *\d+:(?! +\d+ bytes +\d+ times)|-) ?", re.MULTILINE)
_LABELLED_COMMENT = re.compile(_LABEL.pattern + b"#", re.MULTILINE)
"""Of ``srun --label``, or of a list: a label only if every line has one, or one before a ``#``.
Rows of NetPIPE have numbers."""

_COLOUR = re.compile(rb"\x1b\[[\d;]*[A-Za-z]")

_LOST = re.compile(
    rb"^[ \t]*(?=OSU (?:MPI|\wCCL)[^\n]* Test(?: v[\w.]+)?[ \t\r]*$"
    rb"|size +count +type |Rank +\d+ .*\bPid +\d+ on "
    rb"|(?:Benchmarking +\w+|#processes = \d+)[ \t\r]*$)",
    re.MULTILINE,
)
"""A comment whose ``#`` a page has made a heading or a list of."""

_NAMED = re.compile(
    rb"^(?:\[\d+\]|[\w.-]*[A-Za-z][\w.-]*(?: \d+:| +\|)) ?(?=[ \t]*[#\d])", re.MULTILINE
)
"""Of ``mpiexec -prepend-rank`` of Hydra, ``mpiexec --label`` of PALS, and containers."""

_PIPES = re.compile(rb"^[ \t>]*\|[ \t]*(?=\d|\\?# ?(?:Size|OSU|bytes|Bench))[^\n]*", re.MULTILINE)
"""A row of a markdown table with numbers, or with what begins the tables of benchmarks."""

_QUOTED = re.compile(rb"^[ \t]*(?:>[ \t]?)+(?=[ \t]*[#\d])", re.MULTILINE)
"""A quotation, as in answers to an issue."""

_COMMENT = re.compile(rb"^[ \t]*\\?#", re.MULTILINE)
"""A comment that is indented, or that a web page has escaped."""

_MARKUP = re.compile(rb"</?(?:a|br|code|div|p|pre|span)\b[^<>\n]*>", re.IGNORECASE)
"""Of web pages: archives of mailing lists break every line with ``<br>``."""


def plain(data: bytes) -> bytes:
    """Return the text of a log, or of its beginning, in UTF-8; the lines keep their numbers.

    A run file, and other JSON, is returned as it is.

    Decompresses gzip. Text in UTF-16 and marks of the byte order become UTF-8 without. Removes
    tags, times and labels before the lines, and what precedes the ``#`` of comments.
    """
    if data[:1] == b"{":
        return data
    if data[:2] == _GZIP:
        try:
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _MOST)
        except zlib.error:
            return data
    if data[:2] in _UTF_16:
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        return data
    if _MARKUP.search(data):
        import html  # 2,000 names of characters, rarely needed

        data = html.unescape(_MARKUP.sub(b"", data).decode("utf-8", "replace")).encode()
        data = data.replace("\N{NO-BREAK SPACE}".encode(), b" ")
    data = data.replace(b"^M\n", b"\n")  # ends of lines as an editor shows them
    data = _PIPES.sub(lambda row: row[0].lstrip(b"> \t").replace(b"|", b"  ").strip(), data)
    data = _QUOTED.sub(b"", data)
    data = _NAMED.sub(b"", _TAGGED.sub(b"", _COLOUR.sub(b"", data)))
    lines = [line for line in data.splitlines() if line.strip()]
    labelled = len(lines) > 1 and all(map(_LABEL.match, lines[:-1]))  # the last may be cut
    if labelled or _LABELLED_COMMENT.search(data):
        data = _LABEL.sub(b"", data)
    return _COMMENT.sub(b"#", _LOST.sub(b"# ", data))
