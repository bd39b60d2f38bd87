"""The parameters of LogGOPSim, on one line: L o g G O S of a measured machine.

Of a point-to-point run: a message of s bytes takes L + 2 o + (s - 1) G. Round trips show L + 2 o
and G only. So o is written as 0, and L holds what both processors do as well; g, the gap between
messages, is 0, as it needs messages in flight. S, up to which size messages leave at once, is the
first switch of protocol, which is an assumption. Times are in nanoseconds, as the programs
`export --to goal` are.
"""

from pathlib import Path

from isochrone.base.files import write_text
from isochrone.base.text import printable
from isochrone.formats.exported_sweep import leaves_at_once, points_of, single_messages
from isochrone.formats.exporter import Exporter
from isochrone.formats.protocol_lines import Line, scaled
from isochrone.runfile.run import Run

_NANO = 1e9
_ALWAYS = 2**31 - 1
"""S where no switch was seen: all messages leave at once."""


def write(run: Run, path: Path, *, nbytes: int | None = None) -> list[str]:
    """Write the options of LogGOPSim, below comments on how they were derived.

    Raises
    ------
    InputError
        If the run does not hold times of single messages of two ranks, or the file cannot be
        written.
    """
    curve = single_messages(run, nbytes)[0]
    sizes, seconds = points_of(curve)
    first = [max(size, 1) for size in sizes]  # an empty message has a byte there, which is free
    latency, per_byte, off = scaled([Line(-1, 1.0, 1.0, 0.0)], first, seconds, -1)
    eager = leaves_at_once(curve)
    remarks = [
        "round trips show only the sum L + 2o: it is written as L, and o and g are 0",
        "one G (gap per byte) is used for all sizes: the medians deviate from its times by at most "
        f"{100 * off:.2g} %",
    ]
    comments = [
        f"LogGOPS of {run.origin} messages: {curve.name} {run.library.library}".strip(),
        *remarks,
        "L, o and g in ns, G in ns per byte, S in bytes",
    ]
    line = (
        f"-L {latency * _NANO:.0f} -o 0 -g 0 -G {per_byte * _NANO:.6g} -O 0 "
        f"-S {_ALWAYS if eager is None else eager}"
    )
    text = "".join(f"# {printable(comment, 300)}\n" for comment in comments) + f"{line}\n"
    write_text(path, text)
    return remarks


EXPORTER = Exporter(suffix=".loggops", holds=("sweep",), write=write, of_pairs=True)
