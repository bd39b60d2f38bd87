"""Slurm on a cluster: its own munged and slurmctld on the head, a slurmd on each node.

Their key, sockets and states are in the cluster's folder, and they end with the cluster. The
machine's own Slurm and munge, if it has them, are not touched.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from cluster.plan import HEAD, Plan
from cluster.running import Cluster
from cluster.waiting import PATIENCE, wait_for

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("salloc", "sbatch", "scancel", "scontrol", "sinfo", "srun")

UNFINISHED = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")

CONFIGURATION = """\
ClusterName={plan.name}
SlurmctldHost={head}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool.%n
SlurmctldTimeout=30
SlurmdTimeout=60
# A machine that others load may need long to end what is left of a step; no node is drained for it.
UnkillableStepTimeout=600
SchedulerParameters=batch_sched_delay=0,sched_interval=5
ReturnToService=2
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
# As many processors as the node is said to have ranks, whatever the machine has.
SlurmdParameters=config_overrides
# Slurm's own default, with which every rank would be alone.
MpiDefault=none
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=01:00:00 State=UP
"""

NODE = "NodeName={node} NodeAddr={address} CPUs={ranks} RealMemory=1000 State=UNKNOWN"

OTHER_FILES = {
    "cgroup.conf": "CgroupAutomount=no\n",
    # Nodes share /tmp here, where each would want to make the same folder.
    "mpi.conf": "PMIxCliTmpDirBase=/dev/shm\nPMIxDirectConn=true\n",
}


def path() -> str:
    """Return the PATH on which daemons are, too."""
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def obstacle() -> str:
    """Say why there can be no Slurm on this machine; empty if there can."""
    absent = [name for name in (*DAEMONS, *COMMANDS) if shutil.which(name, path=path()) is None]
    packages = "Debian: munge, slurm-client, slurmctld, slurmd"
    return f"there is no {', '.join(absent)} ({packages})" if absent else ""


def configuration(plan: Plan, folder: Path) -> str:
    """Write slurm.conf for a cluster."""
    lines = (
        NODE.format(node=node, address=plan.address(node), ranks=ranks)
        for node, ranks in zip(plan.nodes, plan.ranks, strict=True)
    )
    head = {"head": HEAD, "address": plan.address(HEAD)}
    return CONFIGURATION.format(plan=plan, folder=folder, nodes="\n".join(lines), **head)


def start(cluster: Cluster) -> None:
    """Start the daemons and wait until all nodes can be used.

    Raises
    ------
    TimeoutError
        If they cannot be used in time; the logs are in the cluster's folder.
    """
    folder = cluster.folder / "slurm"
    (folder / "state").mkdir(parents=True)
    (folder / "munge.key").touch(mode=0o600)
    (folder / "munge.key").write_bytes(os.urandom(128))
    for name, text in OTHER_FILES.items():
        (folder / name).write_text(text)
    conf = folder / "slurm.conf"
    conf.write_text(configuration(cluster.plan, folder))
    daemon(cluster, HEAD, *munged(folder))
    wait_for((folder / "munge.socket").exists, "munged")
    daemon(cluster, HEAD, "slurmctld", "-D", "-f", conf)
    for node in cluster.plan.nodes:
        (folder / f"spool.{node}").mkdir()
        daemon(cluster, node, "slurmd", "-D", "-f", conf, "-N", node)
    wait_for(lambda: idle_nodes(cluster) == len(cluster.plan.nodes), "Slurm's nodes")


def munged(folder: Path) -> list[str]:
    """Return the command of a munged that keeps all it has in a folder."""
    kinds = ("key", "log", "pid", "seed")
    files = [f"--{kind}-file={folder}/munge.{kind}" for kind in kinds]
    # Forced, because it dislikes a socket in a folder that only root can enter.
    return ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *files]


def daemon(cluster: Cluster, host: str, name: str, *arguments: object) -> None:
    """Start a daemon in the foreground; its output goes into a log file."""
    program = shutil.which(name, path=path()) or name
    cluster.start(program, *arguments, on=host, log=cluster.folder / f"{name}.{host}.log")


def idle_nodes(cluster: Cluster) -> int:
    """Count the nodes that wait for work."""
    answer = cluster.run("sinfo", "--noheader", "--states=idle", "--format=%D")
    return sum(int(count) for count in answer.stdout.split())


def state(cluster: Cluster, what: str, name: str) -> str:
    """Return the state of a ``job`` or a ``node``."""
    answer = cluster.run("scontrol", "--oneliner", "show", what, name)
    found = re.search(r"(?:Job)?State=(\S+)", answer.stdout)
    assert found, answer
    return found[1]


def submit(cluster: Cluster, folder: Path, *command: object, environ: Mapping[str, str]) -> str:
    """Submit a batch script that is to run in a folder, and return the number of the job."""
    answer = cluster.run("sbatch", f"--chdir={folder}", *command, environ=environ)
    number = re.search(r"batch job (\d+)", answer.stdout)
    assert number, answer
    return number[1]


def finish(cluster: Cluster, job: str, log: Path, *, seconds: float = PATIENCE) -> str:
    """Wait for the end of a job and return its state; ``sbatch --wait`` looks only now and then.

    Raises
    ------
    TimeoutError
        If it does not end in time, with what its ranks wait for, what Slurm says of job and nodes,
        and the end of the job's log. The job is cancelled.
    """
    running = f"job {job}"
    try:
        wait_for(lambda: state(cluster, "job", job) not in UNFINISHED, running, seconds=seconds)
    except TimeoutError as error:
        found = f"{error}\n{what_ranks_wait_for(cluster)}\n{what_slurm_says(cluster, job, log)}"
        cluster.run("scancel", job)
        raise TimeoutError(found) from None
    return state(cluster, "job", job)


WAITING = """\
for rank in $(pgrep -x isochrone-probe); do
    echo "rank $rank: $(cat /proc/$rank/wchan) $(cat /proc/$rank/syscall)"
    tr '\\0' '\\n' </proc/$rank/environ | grep -E '^(PMI|SLURM_(PMI|PROCID|SRUN))'
    ls -l /proc/$rank/fd | sed 's/.* \\([0-9]* ->\\)/\\1/' | grep socket
    if command -v gdb >/dev/null; then timeout 30 gdb -p $rank -batch -ex bt 2>&1 | grep '^#'; fi
done
"""


def what_ranks_wait_for(cluster: Cluster) -> str:
    """Say in which call of the system, and of which library, each rank is."""
    return cluster.run("sh", "-c", WAITING).stdout


def what_slurm_says(cluster: Cluster, job: str, log: Path) -> str:
    """Say why a job does not end, as far as its controller, its nodes and its log know."""
    questions = (
        ("scontrol", "show", "job", job),
        ("scontrol", "show", "step", job),
        ("sinfo", "--Node", "--long"),
        ("sinfo", "--list-reasons"),
        ("ps", "-eo", "pid,ppid,stat,etimes,args"),
    )
    answers = [cluster.run(*question).stdout for question in questions]
    logs = [log, *cluster.folder.glob("slurm*.log")]
    ends = [f"{file}:\n{file.read_text()[-2000:]}" for file in logs if file.exists()]
    return "\n".join([*answers, *ends])
