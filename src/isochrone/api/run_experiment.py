"""One measurement from Python: the probe is started, and what it measured is read."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from isochrone.base.errors import InputError
from isochrone.latency_map.confirm import measured
from isochrone.measure.launchable import Launchable
from isochrone.measure.setup import Setup, follow
from isochrone.measure.sources import experiments
from isochrone.runfile.run import Run


def measure(
    experiment: str,
    ranks: int | None = None,
    output: str | Path | None = None,
    *,
    preset: str | None = None,
    mpicc: str | None = None,
    launcher: str | None = None,
    launcher_args: Sequence[str] = (),
    launcher_options: Mapping[str, object] | None = None,
    kill_after: float | None = None,
    overwrite: bool = False,
    **options: object,
) -> Run:
    """Measure as ``isochrone measure`` does, and return the run.

    Suspects of a latency map are measured a second time, with nothing else running.

    Parameters
    ----------
    experiment
        Name of the experiment, such as ``latency-map``, ``point-to-point`` or ``collective``.
    ranks
        Number of ranks; if None, those of the batch job, or one for each processor.
    output
        Run file to write; if None, the run is in memory only.
    preset
        A named set of options.
    mpicc, launcher, launcher_args
        As the command-line options of these names.
    launcher_options
        Options of this launcher, such as ``{"platform": "machine.xml"}``.
    kill_after
        Seconds after which the ranks are ended.
    overwrite
        Whether an existing ``output`` is overwritten.
    options
        Options of the experiment: ``bytes="8,1KiB"`` is ``--bytes 8,1KiB``. Write an underscore
        for a dash. True gives an option without a value, False and None omit it. Lists are joined
        by commas.

    Raises
    ------
    InputError
        If there is no MPI, an option is refused, or ``output`` exists.
    MeasurementError
        If the ranks fail.
    """
    if "n" in options:
        raise InputError("there is no option 'n'", hint="the number of ranks is ranks=…")
    available = experiments()
    if experiment not in available:
        raise InputError(f"no experiment '{experiment}'", hint=f"there are: {', '.join(available)}")
    if output is not None and Path(output).exists() and not overwrite:
        raise InputError("the file exists", where=output, hint="overwrite=True")
    settings = {  # launchers take names of files as paths
        key: Path(value) if isinstance(value, str) else value
        for key, value in (launcher_options or {}).items()
    }
    chosen = {
        "experiment": experiment,
        "mpicc": mpicc,
        "launcher": launcher,
        "launcher_arg": [*launcher_args],
        **settings,
    }
    arguments = [argument for name, value in options.items() for argument in _option(name, value)]
    counts = None if ranks is None else [ranks]
    [job] = Launchable.of(
        Setup.choose(chosen, _warn),
        experiment,
        arguments,
        counts,
        preset=preset,
        timeout=kill_after,
    )
    with TemporaryDirectory(prefix="isochrone-") as folder:
        path = Path(output) if output is not None else Path(folder) / "run.jsonl"
        return measured(
            job,
            path,
            force=overwrite,
            tell=lambda _: None,
            follow=lambda tokens, path, _, timeout: follow(tokens, path, timeout=timeout),
        )


def _option(name: str, value: object) -> list[str]:
    """Return an option as the probe takes it."""
    if value is None or value is False:
        return []
    option = f"--{name.strip('_').replace('_', '-')}"
    if value is True:
        return [option]
    if isinstance(value, list | tuple | range):
        return [option, ",".join(map(str, value))]
    return [option, str(value)]


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=3)
