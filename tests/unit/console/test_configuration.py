"""Settings of site, user and environment: which counts, and what is said of wrong ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.cli.main import parser
from isochrone.console import configuration, defaults


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment with a file of the site and one of the user, both empty."""
    (tmp_path / "isochrone").mkdir()
    (tmp_path / "isochrone/config.toml").touch()
    (tmp_path / "site.toml").touch()
    return {
        "XDG_CONFIG_HOME": str(tmp_path),
        "ISOCHRONE_SITE_CONFIG": str(tmp_path / "site.toml"),
    }


def site(environ: dict[str, str], text: str) -> None:
    Path(environ["ISOCHRONE_SITE_CONFIG"]).write_text(text)


def user(environ: dict[str, str], text: str) -> None:
    (Path(environ["XDG_CONFIG_HOME"]) / "isochrone/config.toml").write_text(text)


def test_the_environment_wins_over_the_user_and_the_user_over_the_site(
    environ: dict[str, str],
) -> None:
    site(environ, 'launcher = "srun"\nmpicc = "a"\n[limits]\nkill-after = 60\n')
    user(environ, 'mpicc = "b"\n[limits]\nkill-after = "10min"\n')
    found = configuration.values({**environ, "ISOCHRONE_KILL_AFTER": "1h"})
    sources = {key: (one.value, one.source) for key, one in found.items()}
    assert sources["launcher"] == ("srun", "site")
    assert sources["mpicc"] == ("b", "user")
    assert sources["limits.kill-after"] == (3600.0, "environment")
    assert sources["thresholds.margin"] == (None, "default")


def test_mpicc_of_the_environment_counts_as_such(environ: dict[str, str]) -> None:
    """It was always obeyed; a file of the site must not overrule it."""
    site(environ, 'mpicc = "/site/mpicc"\n')
    found = configuration.values({**environ, "MPICC": "/mine/mpicc"})["mpicc"]
    assert (found.value, found.where) == ("/mine/mpicc", "MPICC")
    found = configuration.values({**environ, "MPICC": "/m", "ISOCHRONE_MPICC": "/n"})["mpicc"]
    assert found.value == "/n"


def test_a_file_that_others_may_write_is_not_read(environ: dict[str, str], golden: Golden) -> None:
    """It may name a probe, which would be run: by root, too."""
    site(environ, 'probe = "/tmp/theirs"\n')
    Path(environ["ISOCHRONE_SITE_CONFIG"]).chmod(0o666)
    with golden.refusal():
        configuration.values(environ)


def test_a_pipe_is_no_file(environ: dict[str, str], golden: Golden) -> None:
    """To open it would wait for ever."""
    Path(environ["ISOCHRONE_SITE_CONFIG"]).unlink()
    os.mkfifo(environ["ISOCHRONE_SITE_CONFIG"])
    with golden.refusal():
        configuration.values(environ)


CASES = [
    ("lancher = 'srun'", "no setting 'lancher' (did you mean 'launcher'?"),
    ("[limits]\nkill-aftr = 3", "did you mean 'limits.kill-after'?"),
    ("[thresholds]\nmargin = 5", "thresholds.margin: 5 is not a percentage such as"),
    ("[thresholds]\nmargin = true", "True is not a percentage"),
    ("launcher = 'sun'", "did you mean 'srun'?"),
    ("launcher = 3", "launcher: 3 is not a text"),
    ("launcher-args = [1]", "is not a list of texts"),
    ("[limits]\nkill-after = -3", "is not a time above 0"),
    ("[limits]\nkill-after = nan", "is not a time above 0"),
    ("[limits]\nstall-timeout = true", "0: never"),
    ("launcher = ", "the file is not valid TOML:"),
    ("launcher = '\udce9'", "the file is not valid TOML:"),
    ("limits = 3", "there is no setting 'limits'"),
    ("#" + "x" * 3000, ":1: the line has more than 2000 bytes"),
    ("launcher = 'srun'\n" * 10_000, "the file is larger than 65536 bytes"),
]


def test_a_wrong_file_is_one_line_that_says_where(
    environ: dict[str, str], subtests: pytest.Subtests
) -> None:
    for text, said in CASES:
        with subtests.test(str((text, said))):
            Path(environ["ISOCHRONE_SITE_CONFIG"]).write_bytes(
                text.encode(errors="surrogateescape")
            )
            with pytest.raises(InputError) as caught:
                configuration.values(environ)
            assert said in str(caught.value)
            assert environ["ISOCHRONE_SITE_CONFIG"] in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_broken_site_file_keeps_nobody_from_help(
    isochrone: Command, environ: dict[str, str], golden: Golden
) -> None:
    """Nor from commands for which nothing is configured; those that would use it say so."""
    site(environ, "nonsense")
    for words in (["--help"], ["measure", "--help"], ["compare", "--help"], ["fit", "--help"]):
        assert isochrone(*words, **environ).returncode == 0
    answer = isochrone("compare", "a.jsonl", "b.jsonl", **environ)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    golden(answer.stderr)
    answer = isochrone("export", "none.jsonl", "--to", "csv", **environ)
    assert "site.toml" not in answer.stderr


def test_a_setting_is_the_default_of_its_option_and_the_command_line_wins(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    user(environ, '[thresholds]\nmargin = "3%"\nslow = 0.2\n[limits]\nbudget = "1h"\n')
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert parser().parse_args(["compare", "a", "b"]).margin == pytest.approx(0.03)
    assert parser().parse_args(["compare", "a", "b", "--margin", "7%"]).margin == 0.07
    assert parser().parse_args(["show", "a"]).threshold == 0.2
    assert parser().parse_args(["suite", "quick"]).budget == 3600
    words = ["tune", "collective-io", "--", "mpiexec", "./app"]
    assert parser().parse_args(words).min_io_share == 0.03


def test_config_says_what_came_from_where(
    isochrone: Command,
    environ: dict[str, str],
    golden: Golden,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [one for one in os.environ if one.startswith("ISOCHRONE_")]:
        monkeypatch.delenv(name)  # those of the tests are no settings, either
    site(environ, 'launcher = "srun"\nlauncher-args = ["--qos=x y"]\n')
    answer = isochrone(
        "config", ISOCHRONE_MARGIN="2%", ISOCHRONE_LAUNCHR="x", COLUMNS="300", **environ
    )
    assert answer.returncode == 0, answer.stderr
    rows = {line.split()[0]: line for line in answer.stdout.splitlines() if line.split()}
    assert rows["launcher"].split()[1:3] == ["srun", "site"]
    assert f"  site: {environ['ISOCHRONE_SITE_CONFIG']}\n" in answer.stdout
    assert "'--qos=x y'" in rows["launcher-args"]
    assert "$ISOCHRONE_MARGIN" in rows["thresholds.margin"]
    # The width of a column is that of a path of this machine.
    golden([" ".join(line.split()) for line in answer.stdout.splitlines()])
    document = json.loads(isochrone("config", "--json", **environ).stdout)
    by_key = {one["key"]: one for one in document["settings"]}
    assert by_key["launcher"]["value"] == "srun"
    assert by_key["launcher"]["source"] == "site"
    assert by_key["launcher-args"]["value"] == ["--qos=x y"]
    assert [file["source"] for file in document["files"]] == ["user", "site"]


LAUNCHER = 'launcher = "srun"\nlauncher-args = ["--exclusive"]\n'


@pytest.mark.usefixtures("mpich")
@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["--launcher-arg=--qos=x"], "srun --ntasks=2 --exclusive --qos=x "),
        (["--launcher", "srun"], "srun --ntasks=2 --exclusive "),
        (["--launcher-template", "ibrun -n {ranks}"], "ibrun -n 2 "),
        (["--launcher", "flux"], "flux run --ntasks=2 "),
    ],
)
def test_what_is_configured_of_a_launcher_is_for_this_launcher_only(
    isochrone: Command, environ: dict[str, str], words: list[str], begins: str
) -> None:
    """Arguments of the site's srun would be wrong for the launcher that a user names."""
    site(environ, LAUNCHER)
    answer = isochrone("measure", "synthetic", "-n", "2", "--dry-run", *words, **environ)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(begins)
    assert ("--exclusive" in answer.stdout) == ("--exclusive" in begins)


@pytest.mark.usefixtures("mpich")
def test_a_template_of_the_site_starts_the_ranks(
    isochrone: Command, environ: dict[str, str]
) -> None:
    site(environ, 'launcher = "generic"\nlauncher-template = "ibrun -n {ranks} {program}"\n')
    answer = isochrone("measure", "synthetic", "-n", "3", "--dry-run", **environ)
    assert answer.stdout.startswith("ibrun -n 3 "), answer.stderr


def test_every_setting_for_an_option_names_one_that_exists() -> None:
    """A renamed option would silently be configured no more."""
    known = {setting.key for setting in configuration.SETTINGS}
    assert set(defaults.OPTIONS) | set(defaults.MACHINE) == known
    assert parser().parse_args(["suite", "quick"]).budget is None
