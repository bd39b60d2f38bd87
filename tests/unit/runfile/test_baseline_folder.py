"""A folder of earlier runs: each content once, nothing overwritten, nothing half written."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.runfile import baseline_folder
from isochrone.runfile.baseline_folder import Added, Others, files, read_folder, remove
from isochrone.runfile.file import read, write
from made_up.latency_maps import block, flat, map_of, three_ranks


def add(folder: Path, sources: list[Path]) -> list[Added]:
    return baseline_folder.add(folder, [read(source) for source in sources])


def run_file(path: Path, factor: float = 1.0, started: str = "2026-11-22T03:00:00Z") -> Path:
    run = map_of(factor * flat(4), block(4))
    run.header["started"] = started
    write(run, path)
    return path


def test_a_copy_is_named_by_date_and_content_and_holds_every_byte(tmp_path: Path) -> None:
    source = run_file(tmp_path / "a.jsonl")
    (one,) = add(tmp_path / "nights", [source])
    assert one.new
    assert one.path.name.startswith("20261122T030000-")
    assert one.path.read_bytes() == source.read_bytes()
    assert files(tmp_path / "nights") == [one.path]
    assert len(list((tmp_path / "nights").iterdir())) == 1, "no partial file is left"


def test_the_same_content_is_not_added_twice(tmp_path: Path) -> None:
    first, again = (run_file(tmp_path / name) for name in ("a.jsonl", "b.jsonl"))
    other = run_file(tmp_path / "c.jsonl", 2.0)
    found = add(tmp_path / "nights", [first, again, other])
    assert [one.new for one in found] == [True, False, True]
    assert found[0].path == found[1].path
    assert len(read_folder(tmp_path / "nights")[0]) == 2


def test_a_run_is_not_among_the_others(tmp_path: Path) -> None:
    sources = [run_file(tmp_path / f"{k}.jsonl", 1.0 + k) for k in range(3)]
    add(tmp_path / "nights", sources)
    kept, _ = read_folder(tmp_path / "nights")
    assert len(Others(kept).but(sources[0])) == 2
    assert len(Others(kept).but(None)) == 3


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "nights"
    add(folder, [run_file(tmp_path / f"{k}.jsonl", 1.0 + k) for k in range(3)])
    for number, content in enumerate(("", "{", "hello\n", '{"record":"run"}\n', "\0" * 100)):
        (folder / f"damaged-{number}.jsonl").write_text(content)
    runs, errors = read_folder(folder)
    assert (len(runs), len(errors)) == (3, 5)


def test_a_run_is_removed_by_its_name_or_by_its_content(tmp_path: Path) -> None:
    folder, sources = tmp_path / "nights", [run_file(tmp_path / f"{k}", 1.0 + k) for k in range(3)]
    paths = [one.path for one in add(folder, sources)]
    with pytest.raises(InputError):
        remove(folder, [sources[0], Path("none.jsonl")])
    assert sorted(files(folder)) == sorted(paths), "nothing is deleted then"
    assert remove(folder, [sources[0], Path(paths[1].name)]) == paths[:2]
    assert files(folder) == [paths[2]]
    assert sources[0].exists()


@pytest.mark.parametrize("started", ["", "../../etc", "yesterday", "2026"])
def test_a_date_of_elsewhere_makes_no_path(tmp_path: Path, started: str) -> None:
    (one,) = add(tmp_path / "nights", [run_file(tmp_path / "a.jsonl", started=started)])
    assert one.path.parent == tmp_path / "nights"
    assert one.path.name.startswith("undated-")


def test_if_one_file_is_bad_nothing_is_added(tmp_path: Path, golden: Golden) -> None:
    good = run_file(tmp_path / "a.jsonl")
    partial = tmp_path / "partial.jsonl"
    write(three_ranks(), partial)
    with golden.refusal():
        add(tmp_path / "nights", [good, partial])
    (tmp_path / "text.jsonl").write_text("hello")
    with pytest.raises(InputError):
        add(tmp_path / "nights", [good, tmp_path / "text.jsonl"])
    assert not (tmp_path / "nights").exists()


def test_a_folder_that_is_none_is_refused(tmp_path: Path, golden: Golden) -> None:
    with golden.refusal():
        files(tmp_path / "none")
    file = run_file(tmp_path / "a.jsonl")
    with golden.refusal():
        files(file)
    with golden.refusal():
        add(file, [file])
