"""Model files: what is published is in them as printed; damaged ones are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models import Model, Segment

PUBLISHED = ROOT / "examples/models"
KIB = 1024


def published(name: str) -> Model:
    return models.read(PUBLISHED / f"{name}.json")


@pytest.mark.parametrize(
    ("op", "p", "b", "microseconds"),
    [
        ("bcast", 4, 100_000, (-0.085 + 0.092 * 4) * 100_000),
        ("bcast", 8, 100_000, (0.038 + 0.474 * 3) * 100_000),
        ("reduce", 3, 100_000, (-0.103 + 0.105 * 3) * 100_000),
        ("reduce", 24, 100_000, (0.141 + 0.101 * 4) * 100_000),
        ("gather", 32, 100_000, 9000 + (-0.0825 + 0.0929 * 32) * 100_000),
        ("scatter", 32, 100_000, (-0.0730 + 0.0897 * 32) * 100_000),
    ],
)
def test_clic_has_the_coefficients_of_tables_2_and_3(
    op: str, p: int, b: int, microseconds: float
) -> None:
    found = published("clic").predict({"p": p, "b": b}, op=op)
    assert found.seconds == pytest.approx(microseconds * 1e-6, rel=1e-12)
    assert np.isnan(found.low)
    assert not found.warnings


@pytest.mark.parametrize("p", [2, 3, 4, 5, 8, 17, 64, 96])
def test_the_sums_of_table_1_are_sums(p: int) -> None:
    """Allreduce is reduce + bcast, allgather is gather(p, b) + bcast(p, p b), at every p."""
    clic = published("clic")

    def time(op: str, b: float) -> float:
        return float(clic.predict({"p": p, "b": b}, op=op).seconds[0])

    assert time("allreduce", 5e4) == pytest.approx(time("reduce", 5e4) + time("bcast", 5e4))
    assert time("allgather", 2e4) == pytest.approx(time("gather", 2e4) + time("bcast", p * 2e4))


@pytest.mark.parametrize(
    ("p", "kib", "seconds"),
    [
        (16, 500, (-0.00134e-6 + 0.00308e-6 * 16) * 500 * KIB),
        (24, 352, (-0.00134e-6 + 0.00308e-6 * 24) * 352 * KIB),  # 8448 KBytes at the root: No. 1
        (24, 353, -0.020 + (0.0157e-6 + 0.00505e-6 * 24) * 353 * KIB),
        (96, 400, -0.036 + (0.0265e-6 + 0.00617e-6 * 96) * 400 * KIB),
    ],
)
def test_t3e_has_the_three_segments_of_tables_4_and_5(p: int, kib: int, seconds: float) -> None:
    found = published("t3e-1200").predict({"p": p, "b": kib * KIB}, op="gather")
    assert found.seconds == pytest.approx(seconds, rel=1e-12)
    assert not found.warnings


def test_t3e_scatters_as_table_5_says() -> None:
    found = published("t3e-1200").predict({"p": 96, "b": 1e5}, {"op": "scatter"})
    assert found.seconds == pytest.approx((0.0002453e-6 + 0.00297e-6 * 96) * 1e5, rel=1e-12)


@pytest.mark.parametrize(
    ("order", "pa", "pe", "seconds"),
    [
        ("intra-first", 0, 6, 0.052138),  # table II, test T16-01
        ("inter-first", 0, 6, 0.051513),
        ("intra-first", 1.5, 2, 0.003805 * 1.5 + 0.007712 * 2 + 0.005866),
        ("intra-first", 2, 2, 0.008372 * 2 + 0.006121 * 2 + 0.001588),
        ("inter-first", 7, 3, 0.008450 * 7 + 0.006095 * 3 + 0.001568),
    ],
)
def test_tachyon_has_both_orders_and_both_segments(
    order: str, pa: float, pe: float, seconds: float
) -> None:
    found = published("tachyon-i").predict({"pa": [pa], "pe": [pe]}, {"order": order})
    assert found.seconds == pytest.approx(seconds, abs=5e-7)
    assert found.seconds.shape == (1,)


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*.json")), ids=lambda path: path.stem)
def test_a_published_model_names_its_source_and_units(path: Path) -> None:
    model = models.read(path)
    assert "table" in model.source or "figure" in model.source
    assert model.notes[0].startswith("Units")
    assert all(segment.note and segment.symbols for segment in model.segments)


def test_the_first_piece_that_holds_a_point_counts_and_the_nearest_of_a_gap() -> None:
    segments = [
        Segment("hockney", ["1"], [1.0], range={"b": (None, 100)}),
        Segment("hockney", ["1"], [2.0], range={"b": (100, 1000)}),
        Segment("hockney", ["1"], [3.0], range={"b": (4000, None)}),
    ]
    found = Model(segments).predict({"b": [1, 100, 101, 1000, 1500, 3000, 9000]})
    assert found.seconds.tolist() == [1, 1, 2, 2, 2, 3, 3]


def test_unknown_keys_are_kept(tmp_path: Path) -> None:
    models.write(
        Model([Segment("hockney", ["1", "b"], [1e-6, 1e-9])], extra={"site": "x"}),
        tmp_path / "m.json",
    )
    assert models.read(tmp_path / "m.json").extra == {"site": "x"}


def test_a_file_written_by_hand_needs_no_hash(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(
        json.dumps(
            {
                "record": "model",
                "format": 1,
                "pieces": [
                    {"family": "hockney", "terms": ["1", "b"], "coefficients": [1e-6, 1e-9]}
                ],
            }
        )
    )
    assert models.read(path).predict({"b": 1000}).seconds == pytest.approx(2e-6)


def good() -> dict[str, Any]:
    segment = Segment("hockney", ["1", "b"], [1e-6, 1e-9], low=[0, 0], high=[1, 1])
    return models.document(Model([segment]))


CASES = [
    ({"format": 2}, "format 2 is newer than 1"),
    ({"format": "1"}, "no valid 'format'"),
    ({"record": "run"}, "not a model file"),
    ({"weights": "absolute"}, "the file was changed after it was written: its hash is wrong"),
    ({"sha256": "0" * 64}, "the file was changed after it was written: its hash is wrong"),
    ({"pieces": [], "sha256": None}, "the model has no segments"),
    ({"pieces": 3, "sha256": None}, "damaged"),
    ({"weights": "x", "sha256": None}, "neither 'relative' nor"),
    ({"pieces": [{"family": "a", "terms": ["1"], "coefficients": []}], "sha256": None}, "pieces"),
    (
        {
            "pieces": [{"family": "a", "terms": ["__import__('os')"], "coefficients": [1]}],
            "sha256": None,
        },
        "is not a term",
    ),
    (
        {
            "pieces": [
                {"family": "a", "terms": ["b"], "coefficients": [1], "range": {"b": [2, 1]}}
            ],
            "sha256": None,
        },
        "ends before it starts",
    ),
    (
        {
            "pieces": [
                {"family": "a", "terms": ["b"], "coefficients": [1], "covariance": [[1, 2]]}
            ],
            "sha256": None,
        },
        "not exactly one coefficient",
    ),
]


def test_damaged_files_are_refused_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for change, says in CASES:
        with subtests.test(str((change, says))):
            content = {**good(), **change}
            if content["sha256"] is None:
                del content["sha256"]
            path = tmp_path / "m.json"
            path.write_text(json.dumps(content))
            with pytest.raises(InputError, match=says) as caught:
                models.read(path)
            assert caught.value.where == str(path)


@pytest.mark.parametrize(
    "text", [b"", b"[1]", b"{", b"\xff\xfe", b'{"format": NaN}', b"[" * 100_000]
)
def test_what_is_no_json_is_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(text)
    with pytest.raises(InputError):
        models.read(path)


def test_variables_that_are_none_are_refused(golden: Golden) -> None:
    model = published("clic")
    with golden.refusal():
        model.predict({"b": 1000}, op="gather")
    with golden.refusal():
        model.predict({"b": np.nan, "p": 4}, op="gather")
    with pytest.raises(InputError, match="different lengths"):
        model.predict({"b": [1, 2, 3], "p": [4, 5]}, op="gather")
    with golden.refusal():
        model.predict({"b": 1, "p": 4}, op="gather", order="x")


def test_a_model_shows_itself_in_a_notebook() -> None:
    model = published("t3e-1200")
    assert "p*b ≤ 8448 KiB: - 1.34e-09 s/B · b + 3.08e-09 s/B · p*b" in repr(model)
    assert "8448 KiB &lt; p*b" in model._repr_html_()
    assert model._repr_html_().startswith("<b>")


def test_a_file_has_the_keys_of_format_1() -> None:
    """In Python they are segments with degrees of freedom; files of other versions must read."""
    segment = Segment("hockney", ["1", "b"], [1e-6, 1e-9], sigma=0.1, degrees_of_freedom=7)
    content = models.document(Model([segment]))
    assert content["pieces"] == [
        {
            "family": "hockney",
            "terms": ["1", "b"],
            "coefficients": [1e-6, 1e-9],
            "sigma": 0.1,
            "freedom": 7,
        }
    ]
    assert "segments" not in content


@pytest.mark.parametrize("coefficient", [1e300, -1e300, 1e-300])
def test_absurd_coefficients_give_no_time(
    coefficient: float, tmp_path: Path, golden: Golden
) -> None:
    models.write(Model([Segment("hockney", ["1", "b"], [coefficient] * 2)]), tmp_path / "m.json")
    found = models.read(tmp_path / "m.json").predict({"b": [1, 1e18]})
    assert np.isnan(found.seconds).all()
    golden(found.warnings[0])


def test_a_formula_without_a_variable_is_refused(tmp_path: Path, golden: Golden) -> None:
    models.write(Model([Segment("own", ["1"], [1e-6])]), tmp_path / "m.json")
    with golden.refusal():
        models.read(tmp_path / "m.json")


def test_a_family_that_is_no_more_is_read_and_predicts(tmp_path: Path) -> None:
    """Formulas are in the file: the name of their family is information only."""
    terms = ["1", "floor(log2(p))", "ceil(log2(p))", "ceil(log2(p))*b"]
    old = Segment("off-powers", terms, [1e-6, 2e-6, 3e-6, 4e-10], where={"op": "allreduce"})
    models.write(Model([old]), tmp_path / "m.json")
    found = models.read(tmp_path / "m.json").predict({"p": [12.0], "b": [1000.0]})
    assert found.seconds == pytest.approx(1e-6 + 3 * 2e-6 + 4 * 3e-6 + 4 * 4e-7)
