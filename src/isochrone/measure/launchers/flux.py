"""Flux: flux run inside an instance."""

from isochrone.measure.launcher import Environ, Job, Launcher, on_path, per_node


def detect(environ: Environ, library: str) -> bool:
    """Detect by the instance."""
    return "FLUX_URI" in environ and on_path("flux", environ)


def command(job: Job) -> list[str]:
    """Return the tokens of ``flux run --ntasks=RANKS``."""
    return ["flux", "run", f"--ntasks={job.ranks}", *job.extra, *job.program]


LAUNCHER = Launcher(
    command=command, detect=detect, per_node=per_node("--nodes={nodes}"), priority=10
)
