"""Records are declared once: what is checked, published and documented of them agrees."""

from __future__ import annotations

import re
from inspect import getdoc
from typing import Any

import msgspec
import pytest

from beds.mpis import ROOT
from isochrone.console import documents
from isochrone.runfile import records
from isochrone.runfile.rules import rules_of

PAGE = (ROOT / "docs/run-file-records.md").read_text("utf-8")
DECLARED = {
    (kind, name): record
    for kind in records.kinds()
    for name, record in records.declared_records(kind).items()
    if record is not None
}


@pytest.mark.parametrize("record", [records.Rank, records.Pair], ids=lambda record: record.__name__)
def test_the_page_has_the_meaning_of_each_member(record: type[msgspec.Struct]) -> None:
    listed = str(getdoc(record)).partition("\nAttributes\n")[2]
    for names, text in re.findall(r"^(\w.*)\n((?:    .*\n?)+)", listed, re.MULTILINE):
        keys = ", ".join(f"`{name}`" for name in names.split(", "))
        assert f"| {keys} | {' '.join(text.split())} |\n" in PAGE


@pytest.mark.parametrize("name", DECLARED, ids="-".join)
def test_the_schema_has_the_limits_that_are_checked(name: tuple[str, str]) -> None:
    record = DECLARED[name]
    schemas: list[dict[str, Any]] = [
        line["properties"]
        for line in documents.schema("run-file")["anyOf"]
        if line["properties"]["record"].get("enum") == [name[1]]
        and line["description"] == str(record.__doc__).partition("\n")[0]
    ]
    assert schemas
    for key, rule in rules_of(record).items():
        members = [schema[key] for schema in schemas if key in schema]
        shapes = [branch for member in members for branch in member.get("anyOf", [member])]
        if rule.text is None:
            assert rule.least in [shape.get("minimum", float("-inf")) for shape in shapes]
            assert ("integer" if rule.whole else "number") in [
                shape.get("type") for shape in shapes
            ]


def test_a_record_that_a_kind_cannot_hold_is_known() -> None:
    assert records.declared_records("sweep")["pair"] is None
    assert records.declared_records("latency-map")["sample"] is None
    assert dict(records.declared_records("no such kind")) == dict(records.OF_ANY_KIND)
