"""The nightly verdict as JUnit XML, which Jenkins, GitLab and others show.

A run is a suite. Its cases are its hosts and everything else that is slow or slower; the last one
is whether all could be judged. Bad hosts and other findings without a waiver are failures; what is
possibly slow or not known is skipped.
"""

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from isochrone.base.text import printable
from isochrone.base.verdicts import POSSIBLY_SLOW
from isochrone.changes.check import Check, Finding

_MAX_JUNIT_TEXT = 1000


def junit(checks: Sequence[Check]) -> bytes:
    """Return the document; all texts from elsewhere are escaped, and without control characters."""
    root = Xml.Element("testsuites", {"name": "isochrone check"})
    for check in checks:
        root.append(_suite(check))
    for count in ("tests", "failures", "skipped", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    Xml.indent(root)
    return bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(check: Check) -> Xml.Element:
    name = printable(check.run.where or check.run.experiment, _MAX_JUNIT_TEXT)
    suite = Xml.Element("testsuite", {"name": name})
    if check.run.about.started:
        suite.set("timestamp", printable(check.run.about.started, 60))
    _properties(
        suite,
        pairs_measured=check.pairs_measured,
        **{f"detectable_ratio_{kind}": f"{ratio:.6g}" for kind, ratio in check.visible.items()},
    )
    open_ = [finding for finding in check.findings if not finding.allowed]
    of_hosts = [finding for finding in open_ if finding.bad_hosts]
    for host in dict.fromkeys(host for host in check.run.hosts if host):
        case = _case(suite, name, f"host {host}")
        if host in check.hosts:
            _properties(case, slowdown_ratio=f"{check.hosts[host]:.6g}")
        _fail(case, [finding for finding in of_hosts if host in finding.bad_hosts])
    for finding in open_:
        if finding.verdict == POSSIBLY_SLOW:
            case = _case(suite, name, f"{finding.who} ({POSSIBLY_SLOW})")
            Xml.SubElement(
                case, "skipped", {"message": printable(finding.evidence, _MAX_JUNIT_TEXT)}
            )
        elif not finding.bad_hosts:
            _fail(_case(suite, name, finding.who), [finding])
    for finding in check.findings:
        if finding.allowed:
            case = _case(suite, name, f"{finding.who} (waived)")
            text = f"waived by {finding.allowed}: {finding.evidence}"
            Xml.SubElement(case, "system-out").text = printable(text, _MAX_JUNIT_TEXT)
    last = _case(suite, name, "all could be judged")
    if check.doubts:
        Xml.SubElement(
            last, "skipped", {"message": printable("; ".join(check.doubts), _MAX_JUNIT_TEXT)}
        )
    suite.set("tests", str(len(suite.findall("testcase"))))
    for count, tag in (("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
        suite.set(count, str(len(suite.findall(f"testcase/{tag}"))))
    return suite


def _properties(of: Xml.Element, **values: object) -> None:
    properties = Xml.SubElement(of, "properties")
    for name, value in values.items():
        Xml.SubElement(properties, "property", {"name": name, "value": str(value)})


def _case(suite: Xml.Element, file: str, name: str) -> Xml.Element:
    about = {"classname": file, "name": printable(name, _MAX_JUNIT_TEXT)}
    return Xml.SubElement(suite, "testcase", about)


def _fail(case: Xml.Element, findings: Sequence[Finding]) -> None:
    """Add a failure to a case if there are findings."""
    if findings:
        message = "; ".join(f"{finding.verdict}: {finding.who}" for finding in findings)
        failure = Xml.SubElement(
            case,
            "failure",
            {"type": findings[0].verdict, "message": printable(message, _MAX_JUNIT_TEXT)},
        )
        failure.text = "\n".join(
            printable(finding.evidence, _MAX_JUNIT_TEXT) for finding in findings
        )
