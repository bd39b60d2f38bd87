"""The nightly verdict as metrics, for the textfile collector of Prometheus' node_exporter.

The text is valid in the text format 0.0.4, which node_exporter reads, and in OpenMetrics 1.0. All
metrics are gauges. If several runs were judged, a metric holds the worst of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from isochrone.base.text import printable
from isochrone.changes.check import VERDICTS, Check, hosts_of, together

_MAX_LABEL_TEXT = 255

_Samples = Iterable[tuple[Mapping[str, str], float]]
"""Labels and value of each sample of a metric."""


def openmetrics(checks: Sequence[Check]) -> str:
    """Return the metrics; names of hosts are escaped, and without control characters."""
    return "".join(_lines(checks)) + "# EOF\n"


def _lines(checks: Sequence[Check]) -> Iterator[str]:
    for name, help_text, samples in METRICS:
        # 12 digits: a date needs ten
        texts = [
            f"isochrone_check_{name}{_labels(at)} {value:.12g}\n" for at, value in samples(checks)
        ]
        if texts:
            yield f"# HELP isochrone_check_{name} {help_text}\n"
            yield f"# TYPE isochrone_check_{name} gauge\n"
            yield from texts


def _labels(labels: Mapping[str, str]) -> str:
    """Write ``{host="n5"}``; nothing without labels."""
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    pairs = ",".join(f'{key}="{text.translate(escapes)}"' for key, text in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _started(checks: Sequence[Check]) -> _Samples:
    """When the oldest of the runs was started, in seconds since 1970; none if a date is damaged."""
    try:
        dates = [datetime.fromisoformat(check.run.about.started) for check in checks]
    except ValueError:
        return []
    utc = (date if date.tzinfo else date.replace(tzinfo=UTC) for date in dates)
    return [({}, min(date.timestamp() for date in utc))]


def _of_hosts(value: Callable[[Check, str], float | None]) -> Callable[[Sequence[Check]], _Samples]:
    """Return a metric of hosts: the largest value of all runs that know it."""

    def samples(checks: Sequence[Check]) -> _Samples:
        maxima: dict[str, float] = {}
        for check in checks:
            for host in dict.fromkeys(filter(None, check.run.hosts)):
                host_value, name = value(check, host), printable(host, _MAX_LABEL_TEXT)
                if host_value is not None:
                    maxima[name] = max(host_value, maxima.get(name, host_value))
        return [({"host": name}, maximum) for name, maximum in maxima.items()]

    return samples


def _named(checks: Sequence[Check], hosts: Sequence[str]) -> _Samples:
    named = set(hosts)
    return _of_hosts(lambda check, host: float(host in named))(checks)


def _detectable(checks: Sequence[Check]) -> _Samples:
    kinds = dict.fromkeys(kind for check in checks for kind in check.visible)
    return [
        ({"kind": kind}, max(check.visible[kind] for check in checks if kind in check.visible))
        for kind in kinds
    ]


def _earlier(checks: Sequence[Check]) -> _Samples:
    counts = [check.earlier for check in checks if check.earlier is not None]
    return [({}, min(counts))] if counts else []


METRICS: tuple[tuple[str, str, Callable[[Sequence[Check]], _Samples]], ...] = (
    (
        "verdict",
        "Verdict of the check: 1 for the one that holds, 0 for the others.",
        lambda checks: [({"verdict": name}, float(name == together(checks))) for name in VERDICTS],
    ),
    ("timestamp_seconds", "Start of the measurement, in seconds since 1970.", _started),
    (
        "pairs_measured",
        "Pairs of ranks that were measured.",
        lambda checks: [({}, sum(check.pairs_measured for check in checks))],
    ),
    ("earlier_runs", "Comparable earlier runs in the baseline.", _earlier),
    (
        "detectable_ratio",
        "Smallest slowdown that would have been found, by kind of component.",
        _detectable,
    ),
    (
        "host_slowdown_ratio",
        "Typical round trip of the host with other hosts over the usual one.",
        _of_hosts(lambda check, host: check.hosts.get(host)),
    ),
    (
        "host_bad",
        "Whether the host is slow or slower than before, and this was confirmed.",
        lambda checks: _named(checks, hosts_of(checks)[0]),
    ),
    (
        "host_suspect",
        "Whether the host may be slow, which was not confirmed.",
        lambda checks: _named(checks, hosts_of(checks)[1]),
    ),
)
"""Name after ``isochrone_check_``, meaning, and samples of each metric, in the order of output."""
