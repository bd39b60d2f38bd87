"""SimGrid: the probe in virtual time, on a described platform."""

import argparse
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import sha256
from isochrone.measure.launcher import Environ, Job, Launcher, Options

QUIET = ("--log=root.thres:critical", "--cfg=smpi/simulate-computation:no")

EXACT = (
    "--cfg=smpi/bw-factor:0:1",
    "--cfg=smpi/lat-factor:0:1",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/crosstraffic:0",
    "--cfg=smpi/wtime:0",
)
"""Times that are known on paper: the latencies of the links plus size over bandwidth. Without
these SimGrid multiplies both by factors that were calibrated on a cluster of 2008. A platform with
factors of its own keeps them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a simulation to ``isochrone measure``."""
    group = parser.add_argument_group("options of --launcher simgrid")
    parser.add_argument(
        "--platform",
        type=Path,
        metavar="FILE",
        help="machine to simulate with SimGrid (see isochrone platform)",
    )
    for action in (
        group.add_argument(
            "--platform-hosts",
            type=Path,
            metavar="FILE",
            help="host of each rank, one per line (default: P.hosts next to the platform P.xml)",
        ),
        group.add_argument(
            "--smpi-calibrated",
            action="store_true",
            help="apply SimGrid's correction factors for MPI (default: exact link parameters)",
        ),
    ):
        action.expert = True  # type: ignore[attr-defined]


def asked_for(options: Options) -> bool:
    """Detect by the platform, which only this launcher has."""
    return options.get("platform") is not None


def ranks(options: Options) -> int | None:
    """Return the number of ranks in the host file, if there is one."""
    hosts = _files(options)[1]
    return None if hosts is None else len(hosts.read_text(errors="replace").split())


def per_node(options: Options, ranks: int, k: int, folder: Path) -> Options:
    """Write a host file with k ranks on each of the first hosts of the usual one.

    Raises
    ------
    InputError
        If there is none, or it has too few hosts.
    """
    host_file = _files(options)[1]
    hosts = [] if host_file is None else list(dict.fromkeys(host_file.read_text().split()))
    if len(hosts) * k < ranks:
        raise InputError(
            f"{ranks} ranks, {k} on each node, need {-(-ranks // k)} hosts, not {len(hosts)}",
            where=host_file or "--platform-hosts",
            hint="see -n",
        )
    path = folder / f"{k}.hosts"
    path.write_text("".join(f"{hosts[rank // k]}\n" for rank in range(ranks)))
    return {"platform_hosts": path}


def command(job: Job) -> list[str]:
    """Return the tokens of ``smpirun -np RANKS``.

    Raises
    ------
    InputError
        If there is no platform, or it or the host file is not a file, or a name has blanks.
    """
    platform, hosts = _files(job.options)
    room = ranks(job.options)
    if room is not None and job.ranks > room:
        raise InputError(
            f"the job has {job.ranks} ranks, but the host file room for {room}",
            where=hosts,
            hint="see -n",
        )
    for argument in (str(platform), str(hosts), *job.program):
        if len(argument.split()) > 1:
            raise InputError(
                "smpirun cannot pass arguments that contain blanks", where=repr(argument)
            )
    tokens = [job.sibling("smpirun"), "-np", str(job.ranks), "-platform", str(platform)]
    if hosts is not None:
        tokens += ["-hostfile", str(hosts)]
    return [*tokens, *_settings(job), *job.extra, *job.program]


def notes(job: Job) -> dict[str, str]:
    """Return notes on what was simulated, and how."""
    platform, hosts = _files(job.options)
    entries = {
        "platform": platform.name,
        "platform-sha256": sha256(platform),
        "simgrid-options": ",".join([*_settings(job), *job.extra]),
    }
    if hosts is not None:
        entries["hostfile-sha256"] = sha256(hosts)
    return entries


def _settings(job: Job) -> tuple[str, ...]:
    has_factors = _has_factors(_files(job.options)[0])
    return QUIET if has_factors or job.options.get("smpi_calibrated") else QUIET + EXACT


def _files(options: Options) -> tuple[Path, Path | None]:
    """Return the platform and the host file."""
    platform, hosts = options.get("platform"), options.get("platform_hosts")
    if not isinstance(platform, Path):
        raise InputError(
            "the simgrid launcher needs --platform FILE",
            hint="isochrone platform 'nodes:16 cores:4' -o P.xml writes one",
        )
    if not platform.is_file():
        raise InputError("the file does not exist", where=platform)
    _check_platform(platform)
    if not isinstance(hosts, Path):
        hosts_file = platform.with_suffix(".hosts")
        return platform, hosts_file if hosts_file.is_file() else None
    if not hosts.is_file():
        raise InputError("the file does not exist", where=hosts)
    return platform, hosts


def _check_platform(path: Path) -> None:
    """Refuse what is not a platform file: SimGrid's own words about it are a backtrace."""
    from xml.etree import ElementTree

    try:
        root = next((element.tag for _, element in ElementTree.iterparse(path, ["start"])), "")
    except ElementTree.ParseError as error:
        raise InputError(f"the file is not a SimGrid platform: {error}", where=path) from error
    if root != "platform":
        raise InputError(f"the file is not a SimGrid platform: it contains a '{root}'", where=path)


def _has_factors(path: Path) -> bool:
    """Whether a platform has its own factors, as `isochrone export` writes them.

    Settings precede the machine, which may be large and is not read.
    """
    from xml.etree import ElementTree

    for _, element in ElementTree.iterparse(path, ["start"]):
        if element.tag not in ("platform", "config", "prop"):
            return False
        if element.get("id") in ("smpi/lat-factor", "smpi/bw-factor"):
            return True
    return False


def environment(variables: Environ) -> list[str]:
    """Return them by a wrapper: smpirun is a script, whose programs do not need them."""
    assignments = " ".join(f"{name}={value}" for name, value in variables.items())
    return ["-wrapper", f"env {assignments}"]


LAUNCHER = Launcher(
    command=command,
    add_arguments=add_arguments,
    asked_for=asked_for,
    ranks=ranks,
    per_node=per_node,
    notes=notes,
    compiler="smpicc",  # SimGrid's own wrapper, not that of the machine's MPI
    package="install SimGrid, for example: apt-get install libsimgrid-dev",
    stuck="Deadlock detected",
    starters=("smpirun",),
    computing=("--cfg=smpi/simulate-computation:yes", "--cfg=smpi/host-speed:1e9"),
    environment=environment,
    stands_alone=False,  # a program of this wrapper runs below smpirun only
)
