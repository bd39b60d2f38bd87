"""What is said of sweeps: as data, on a terminal, to a script and in a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.cli.main import main
from isochrone.pages.page import Later, Picture, Sentence, Table
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from isochrone.sweep.kinds import sweep
from isochrone.sweep.kinds.sweep import PAGE
from made_up.latency_maps import block, latency_map, mmpi_example
from made_up.sweeps import bisection, collective, line, point_to_point, run_of, table_of
from rendered import blocks, document, report, sections, show, words


def row(text: str, size: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(f"{size} "))


def test_a_sweep_is_a_table_with_its_switch_marked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    """Size, median, interval, min, mean and bandwidth; the first size after the switch has «."""
    text = show(capsys, tmp_path, point_to_point(noise=0.001))
    golden(text)
    for title in ("size", "median", "95 % interval", "min", "mean", "bandwidth"):
        assert title in text
    assert row(text, "128 KiB").rstrip().endswith("«")
    assert "«" not in row(text, "64 KiB")
    assert "7.66 GB/s" in row(text, "128 KiB")


def test_no_cell_is_cut_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number without its unit is worse than a line that wraps."""
    monkeypatch.setenv("COLUMNS", "40")
    text = show(capsys, tmp_path, collective(late=5))
    assert "…" not in row(text, "1 KiB").replace(" … ", "")
    assert row(text, "1 KiB").count("µs") >= 5


def test_a_bisection_names_its_bystander_and_its_slow_pair(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, bisection(9, slow=2))
    assert "Idle: rank 8" in text
    assert "pair 2–6 (n0, n2): 2.0" in text or "pair 2–6 (n0, n2): 1.9" in text
    assert "Later" not in show(capsys, tmp_path, bisection(8))


def test_a_collective_names_its_slowest_rank_and_a_barrier_has_no_bandwidth(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, collective(("allreduce", "barrier"), late=5))
    assert "rank 5 (n1): 1." in text
    assert "skew" in text
    assert "bandwidth" not in text[text.index("barrier,") :]


def test_windows_have_a_message_rate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "k/s" in row(show(capsys, tmp_path, point_to_point(window=64)), "1 KiB")


def test_warnings_and_partial_runs_are_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    run = point_to_point(complete=False)
    run.warnings.append({"code": "noisy", "text": "the machine was \x1b[31mbusy"})
    text = show(capsys, tmp_path, run)
    assert "partial run" in text
    golden(text)


def test_json_is_one_document_with_curves_and_switches(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    found = document(capsys, tmp_path, point_to_point())
    assert found["experiment"] == "point-to-point"
    golden(found["seconds_are"])
    (curve,) = found["curves"]
    assert curve["pair"] == [0, 3]
    assert len(curve["points"]) == 21
    (switch,) = curve["switches"]
    assert (switch["after"], switch["before"]) == (65536, 131072)
    ops = [curve["op"] for curve in document(capsys, tmp_path, collective())["curves"]]
    assert ops == ["bcast", "allreduce"]
    bis = document(capsys, tmp_path, bisection(9, slow=2))
    assert bis["bystanders"] == [8]
    assert bis["curves"][0]["slowest"][0]["ranks"] == [2, 6]


def test_several_files_of_different_kinds_may_be_given(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = []
    for k, run in enumerate((mmpi_example(), point_to_point(), collective())):
        names.append(str(tmp_path / f"{k}.jsonl"))
        runs.write(run, tmp_path / f"{k}.jsonl")
    assert main(["show", *names]) == 0
    text = capsys.readouterr().out
    assert text.index("latency-map") < text.index("point-to-point") < text.index("collective")
    assert main(["show", "--json", *names]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["experiment"] for one in found] == ["latency-map", "point-to-point", "collective"]


def test_one_size_may_be_chosen_and_a_wrong_one_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, point_to_point(), "--bytes", "1KiB")
    assert "2 KiB" not in text
    assert "Protocol switch" in text  # which is found among all sizes all the same
    assert main(["show", str(tmp_path / "a.jsonl"), "--bytes", "3"]) == 2
    golden(capsys.readouterr().err)


def test_hostile_names_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = collective(("bcast",))
    rows = [{**row, "op": "\x1b[2J[bold]x"} for row in run.tables["sample"].rows()]
    run.tables["sample"] = table_of(rows)
    run.header["seconds_are"] = "\x1b[2J"
    text = show(capsys, tmp_path, run)
    assert "\x1b[2J" not in text
    assert "[bold]x" in text


# --- the report -----------------------------------------------------------------------------------


def test_a_sweep_is_told_in_words_a_table_and_pictures(tmp_path: Path) -> None:
    run = point_to_point(noise=0.0)
    run.warnings.append({"code": "noisy", "text": "the machine was busy"})
    text = report(tmp_path, run)
    said = words(text)
    for part in (
        "Point-to-point sweep of 4 ranks on 2 nodes",
        "Ranks 0–3 take 1.20 µs with 0 B and 387 µs with 4 MiB",
        "the bandwidth is highest at 4 MiB: 10.9 GB/s",
        "Protocol switches",
        "Ranks 0–3: Protocol switch between 64 KiB and 128 KiB: 5.93 µs less (-26 %), "
        "asymptotic bandwidth 11.0 GB/s instead of 6.00 GB/s",
        "Definition of the times: half a round trip",
        "the machine was busy",
        "messages in flight",
    ):
        assert part in said, part
    assert text.count("<svg") == 4  # three pictures and the model
    assert text.count('<tr class="strong">') == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("passes", "said"),
    [
        (10, "computed from the medians of 10 or more passes"),
        (4, "computed from the repetitions of this run"),
        (None, "computed from the repetitions of this run"),
    ],
)
def test_it_says_what_the_intervals_rest_on(tmp_path: Path, passes: int | None, said: str) -> None:
    """An interval of repetitions that are alike had been called the uncertainty of the median."""
    assert said in words(report(tmp_path, point_to_point(passes=passes)))


def test_a_line_without_switches_says_nothing_of_them(tmp_path: Path) -> None:
    assert "protocol switches" not in report(tmp_path, point_to_point(line(), noise=0.001))


def test_bystanders_slow_pairs_and_late_ranks_are_named(tmp_path: Path, golden: Golden) -> None:
    said = words(
        report(tmp_path, bisection(9, slow=2), collective(("allreduce", "barrier"), late=5))
    )
    assert "Idle: rank 8" in said
    golden(said)
    assert "Allreduce, 8 ranks: rank 5 (n1): 1." in said
    assert "Barrier on 8 ranks takes" in said


@pytest.mark.slow
def test_runs_of_one_kind_share_pictures_that_say_what_differs(
    tmp_path: Path, golden: Golden
) -> None:
    """Several numbers of ranks per node in one figure, and time against ranks."""
    few = (8, 512, 4096)
    many = [collective(("bcast",), n, sizes=few) for n in (4, 8)]
    text = report(tmp_path, *many, *(point_to_point(per_node=k, sizes=few) for k in (1, 2)))
    golden(text)
    alone = report(tmp_path, point_to_point(sizes=few), latency_map(block(2, 4)))
    assert "together" not in alone


def test_very_many_curves_are_not_drawn_over_each_other(tmp_path: Path, golden: Golden) -> None:
    run = collective(tuple(f"op{k}" for k in range(60)), sizes=(8, 64), repeats=2)
    text = report(tmp_path, run)
    golden(text)
    assert text.count("<svg") == 0
    assert PAGE.together([run, run]) == []


def test_hostile_text_is_escaped(tmp_path: Path) -> None:
    run = collective(("bcast",), sizes=(8, 64))
    rows = [{**row, "op": "<script>x"} for row in run.tables["sample"].rows()]
    run.tables["sample"] = table_of(rows)
    run.header["seconds_are"] = "<script>y"
    text = report(tmp_path, run)
    assert "<script" not in text
    assert "&lt;script&gt;x" in text


def test_a_partial_sweep_of_one_point_is_reported(tmp_path: Path) -> None:
    said = words(report(tmp_path, point_to_point(sizes=(64,), repeats=1, complete=False)))
    assert "Partial run" in said
    assert "Ranks 0–3 take" in said


# --- pages as data --------------------------------------------------------------------------------


def unheard_of() -> Run:
    """A sweep of an experiment that no code knows; its header says how to read it."""
    rows = [
        {"shape": shape, "p": p, "bytes": size, "repeat": k, "seconds": p * 1e-6 * (1 + size / 512)}
        for shape in ("ring", "star")
        for p in (2, 4)
        for size in (8, 64, 512)
        for k in range(5)
    ]
    options = {"shape": "all", "petals": 7, "wilted": False, "fresh": True, "repeats": 5}
    run = run_of("flower", 4, 2, {"sample": rows}, options, "a whole bloom")
    run.header |= {"kind": "sweep", "by": ["shape", "p"]}
    return run


def test_a_sweep_nobody_has_heard_of_gets_a_full_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    """The header says what the curves are of; no name of an experiment is looked up."""
    text = show(capsys, tmp_path, unheard_of())
    assert "petals 7 · fresh yes" in text
    assert "times: a whole" in text
    assert "\nshape ring, 4 ranks:\n" in text
    found = document(capsys, tmp_path, unheard_of())["curves"]
    assert [(curve["shape"], curve["p"]) for curve in found] == [
        ("ring", 2),
        ("ring", 4),
        ("star", 2),
        ("star", 4),
    ]
    said = words(report(tmp_path, unheard_of()))
    golden(said)
    for title in (
        "Time by message size.",
        "Bandwidth by message size.",
        "Time by number of ranks.",
    ):
        assert title in said


def test_a_page_comes_in_the_order_in_which_it_is_read(golden: Golden) -> None:
    titles = [(one.title, one.only) for one in sections(point_to_point())]
    golden(titles)


def test_a_sweep_of_one_pair_asks_for_a_formula_and_others_do_not() -> None:
    """A line through three points fits anything; a cut is not one message."""
    sizes = (0, 64, 256, 1024, 4096, 16384, 65536)
    (fit,) = blocks(point_to_point(sizes=sizes), Later, "Model")
    *_, picture = fit.make()
    assert isinstance(picture, Picture)
    assert (picture.options.model.family, picture.view) == ("hockney", "fit")
    assert not blocks(point_to_point(sizes=sizes[:3]), Later, "Model")
    assert not blocks(bisection(sizes=sizes), Later, "Model")


def test_many_sizes_and_curves_are_counted(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setattr(sweep, "MAX_POINT_ROWS", 3)
    monkeypatch.setattr(sweep, "MAX_CURVES", 1)
    run = collective(sizes=(1, 2, 4, 8, 16))
    (table,) = blocks(run, Table, "Numbers")
    assert len(table.rows) == 3
    golden(table.more)
    (left_out,) = blocks(run, Sentence, "Numbers")
    golden(left_out.text)


def test_figures_are_named_and_not_drawn(golden: Golden) -> None:
    """A terminal makes the same page and must not wait for matplotlib."""
    drawn = [one.view for one in blocks(point_to_point(), Picture)]
    assert drawn == ["time", "bandwidth", "distribution"]
    few = blocks(point_to_point(repeats=19), Picture)
    assert [one.view for one in few] == ["time", "bandwidth"]
    runs = [collective(("bcast",), p, sizes=(8, 64)) for p in (4, 8)]
    (together,) = PAGE.together(runs)
    golden(together.title)
    views = [one.view for one in together.blocks if isinstance(one, Picture)]
    assert views == ["time", "bandwidth", "ranks"]
