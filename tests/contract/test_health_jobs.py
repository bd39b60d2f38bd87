"""The health jobs for Slurm, PBS and Flux: one procedure; and what each asks its batch system.

Slurm's is tested with real daemons, too (`tests/cluster/test_slurm_health.py`). Here the commands
of all three are stand-ins that print what the real ones print, and record how they were called.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from beds.mpis import ROOT
from isochrone.changes.pages.openmetrics import METRICS as WRITTEN

PATIENCE = 60.0
NODES = [f"n{k}" for k in range(1, 13)]
DOWN = "n6"

METRICS = {name for name, *_ in WRITTEN}

MARK = "# ---- From here on"

SYSTEMS = {"slurm": "sbatch", "pbs": "pbs", "flux": "flux"}


def script(system: str) -> Path:
    return ROOT / "contrib" / system / f"health-job.{SYSTEMS[system]}"


RECORD = '#!/bin/bash\necho "${0##*/} $*" >>"$CALLS"\n'

UP = [node for node in NODES if node != DOWN]

STAND_INS = {
    "sinfo": 'case "$*" in *--states*) echo "$UP" ;; *) echo "$ALL" ;; esac',
    "scontrol": '[[ $1 != show ]] || echo "$JOB_NODES"',
    "sbatch": "",
    "srun": '[[ $* != *"$DEAD"* ]]',
    "pbsnodes": """[[ $1 == -a ]] || exit 0
        for node in $ALL; do
            state=free
            [[ $node == "$DOWN" ]] && state=down,offline
            printf '%s\\n     Mom = %s.site\\n     state = %s\\n' $node $node $state
        done""",
    "qsub": "",
    "pbsdsh": '[[ $2 != "$DEAD_NUMBER" ]]',
    "flux": """case "$*" in
        "getattr jobid") [[ -n $FLUX_JOB ]] && echo "$FLUX_JOB" ;;
        "job id"*) echo "${!#}" ;;
        hostlist*avail) echo "$UP" ;;
        hostlist*) if [[ -n $FLUX_JOB ]]; then echo "$JOB_NODES"; else echo "$ALL"; fi ;;
        run*) [[ $* != *"host:$DEAD "* ]] ;;
        esac""",
    "isochrone": """case $1 in
        measure)
            codes=($MEASURED)
            exit "${codes[$(grep -c "^isochrone measure" "$CALLS") - 1]:-3}" ;;
        check)
            while (($#)); do [[ $1 == --hosts-out ]] && echo "$BAD" >"$2"; shift; done
            exit "$VERDICT" ;;
        esac""",
}


@dataclass(frozen=True)
class Bed:
    """Stand-ins in a folder, and what they recorded."""

    folder: Path

    def run(
        self, system: str, *words: str, nodes: list[str] | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a script; in a job of these nodes, if they are given."""
        calls = self.folder / "calls"
        calls.write_text("")
        job = {}
        if nodes:
            (self.folder / "nodefile").write_text("".join(f"{node}\n" for node in nodes))
            job = {
                "slurm": {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-12]"},
                "pbs": {"PBS_JOBID": "7.server", "PBS_NODEFILE": str(self.folder / "nodefile")},
                "flux": {"FLUX_JOB": "7"},
            }[system]
        made_up = {
            "ALL": "\n".join(NODES),
            "UP": "\n".join(UP),
            "DOWN": DOWN,
            "FLUX_JOB": "",
            "JOB_NODES": "\n".join(nodes or []),
            "DEAD": "none",
            "DEAD_NUMBER": "none",
            "MEASURED": "0",
            "VERDICT": "0",
            "BAD": "",
            "CALLS": str(calls),
        }
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            ["bash", str(script(system)), *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={"PATH": path, **made_up, **job, **variables},
            check=False,
        )

    def calls(self, name: str) -> list[str]:
        """Return the arguments of each call of a command."""
        lines = (self.folder / "calls").read_text().splitlines()
        return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]

    def drained(self, system: str) -> list[str]:
        """Return the nodes that were taken out of service."""
        if system == "slurm":
            updates = [line.split() for line in self.calls("scontrol") if "State=DRAIN" in line]
            return [words[1].removeprefix("NodeName=") for words in updates]
        if system == "pbs":
            return [line.split()[-1] for line in self.calls("pbsnodes") if line.startswith("-o")]
        begin = "--parent resource drain "
        calls = self.calls("flux")
        return [line.removeprefix(begin).split()[0] for line in calls if line.startswith(begin)]

    def submitted(self, system: str) -> list[str]:
        """Return the nodes for which a job was submitted."""
        if system == "slurm":
            (line,) = self.calls("sbatch")
            return line.partition("--nodelist=")[2].split()[0].split(",")
        if system == "pbs":
            (line,) = self.calls("qsub")
            chunks = line.partition("select=")[2].split()[0].split("+")
            return [chunk.split(":")[1].removeprefix("host=") for chunk in chunks]
        (line,) = [one for one in self.calls("flux") if one.startswith("batch")]
        return line.partition("--requires=host:")[2].split()[0].split(",")


@pytest.fixture
def bed(processes: None, tmp_path: Path) -> Bed:
    (tmp_path / "bin").mkdir()
    for name, body in STAND_INS.items():
        path = tmp_path / "bin" / name
        path.write_text(f"{RECORD}{body}\n")
        path.chmod(0o755)
    return Bed(tmp_path)


def test_the_procedure_is_the_same_in_all_three() -> None:
    bodies = {script(system).read_text().partition(MARK)[2] for system in SYSTEMS}
    assert len(bodies) == 1
    assert len(bodies.pop()) > 1000


def test_the_page_quotes_the_job() -> None:
    """What decides over a night is on the page, as it is in the files."""
    page = (ROOT / "docs/nightly-health-check.md").read_text()
    (quoted,) = [block for block in page.split("```")[1::2] if "case $verdict" in block]
    assert quoted.removeprefix("bash\n") in script("slurm").read_text()


def test_the_page_lists_the_settings_and_the_metrics() -> None:
    page = (ROOT / "docs/nightly-health-check.md").read_text()
    settings = set(re.findall(r"\bHEALTH_[A-Z_]+", script("slurm").read_text()))
    assert set(re.findall(r"^\| `(HEALTH_\w+)` \|", page, re.M)) == settings
    assert set(re.findall(r"^\| `isochrone_check_(\w+)` \|", page, re.M)) == METRICS


def test_alerts_and_dashboard_ask_for_metrics_that_there_are() -> None:
    folder = ROOT / "contrib/monitoring"
    rules = YAML(typ="safe").load((folder / "isochrone.rules.yml").read_text())
    asked = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    panels = json.loads((folder / "grafana-dashboard.json").read_text())["panels"]
    asked += [target["expr"] for panel in panels for target in panel["targets"]]
    named = [re.findall(r"isochrone_check_(\w+)", one) for one in asked]
    assert all(named)
    assert {name for names in named for name in names} <= METRICS


def test_shells_find_no_fault(processes: None) -> None:
    files = [*(script(system) for system in SYSTEMS), *ROOT.glob("contrib/*/*.sh")]
    for file in files:
        subprocess.run(["bash", "-n", str(file)], check=True, timeout=PATIENCE)
    if shutil.which("shellcheck"):
        words = ["shellcheck", "--shell=bash", "--severity=info", *map(str, files)]
        subprocess.run(words, check=True, timeout=PATIENCE)


@pytest.mark.parametrize("system", SYSTEMS)
def test_parts_cover_all_nodes_that_are_up_each_once(bed: Bed, system: str) -> None:
    found = []
    for part in range(3):
        answer = bed.run(system, "--x=1", HEALTH_PARTS="3", HEALTH_PART=str(part))
        assert answer.returncode == 0, answer.stderr
        found += bed.submitted(system)
    assert sorted(found) == sorted(UP)
    assert bed.run(system).returncode == 0
    assert bed.submitted(system) == UP


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_bad_node_is_drained_only_if_asked_and_never_another(bed: Bed, system: str) -> None:
    own = NODES[:8]
    answer = bed.run(system, nodes=own, VERDICT="1", BAD="n3\nn9")
    assert answer.returncode == 1
    assert bed.drained(system) == []
    assert "not drained" in answer.stdout
    answer = bed.run(system, nodes=own, VERDICT="1", BAD="n3.site.org\nn9", HEALTH_DRAIN="yes")
    assert answer.returncode == 1
    assert bed.drained(system) == ["n3"], answer.stdout


@pytest.mark.parametrize("system", SYSTEMS)
def test_more_bad_nodes_than_allowed_are_a_matter_for_a_person(bed: Bed, system: str) -> None:
    asked = {"nodes": NODES, "VERDICT": "1", "BAD": "n3\nn4", "HEALTH_DRAIN": "yes"}
    answer = bed.run(system, **asked)  # type: ignore[arg-type]
    assert answer.returncode == 1
    assert bed.drained(system) == []
    assert "2 of 12" in answer.stdout
    bed.run(system, **asked, HEALTH_MAX_DRAIN="20%")  # type: ignore[arg-type]
    assert bed.drained(system) == ["n3", "n4"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_exit_codes_are_those_of_check_and_only_1_drains(bed: Bed, system: str) -> None:
    for code in ("0", "2", "4"):
        answer = bed.run(system, nodes=NODES, VERDICT=code, BAD="n3", HEALTH_DRAIN="yes")
        assert answer.returncode == int(code)
        assert bed.drained(system) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_node_that_does_not_answer_is_bad_and_other_failures_are_not_blamed_on_nodes(
    bed: Bed, system: str
) -> None:
    lost = {"MEASURED": "3 3 3 0", "HEALTH_DRAIN": "yes"}
    assert bed.run(system, nodes=NODES, **lost).returncode == 3
    assert bed.drained(system) == []
    assert len(bed.calls("isochrone")) == 3
    answer = bed.run(system, nodes=NODES, **lost, DEAD="n5", DEAD_NUMBER="4")
    assert answer.returncode == 1
    assert bed.drained(system) == ["n5"], answer.stdout
    assert len(bed.calls("isochrone")) == 1


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_measurement_that_failed_by_chance_is_tried_twice_more(bed: Bed, system: str) -> None:
    """Protects nights on which MPI_Init of a rank crashes, as Open MPI's does on busy nodes."""
    answer = bed.run(system, nodes=NODES, MEASURED="3 3 0", VERDICT="4")
    assert answer.returncode == 4
    assert [call.split()[0] for call in bed.calls("isochrone")] == [*["measure"] * 3, "check"]


def test_settings_reach_check(bed: Bed) -> None:
    bed.run(
        "slurm",
        nodes=NODES,
        HEALTH_BASELINE="nights",
        HEALTH_METRICS="m.prom",
        HEALTH_ALLOW="host=n5 level=2",
        HEALTH_OPTIONS="--bytes 64",
    )
    measured, checked = bed.calls("isochrone")
    assert measured.startswith("measure latency-map --bytes 64 -o ./health-7.jsonl")
    assert "--baseline nights --add" in checked
    assert "--openmetrics m.prom --allow host=n5 --allow level=2" in checked
    (bed.folder / "nights").mkdir()  # by the first night
    bed.run("slurm", nodes=NODES, HEALTH_BASELINE="nights")
    assert "--baseline nights" in bed.calls("isochrone")[0]


@pytest.mark.parametrize(
    "wrong", [{"HEALTH_PARTS": "0"}, {"HEALTH_MAX_DRAIN": "5"}, {"HEALTH_PART": "1"}]
)
def test_wrong_settings_start_nothing(bed: Bed, wrong: dict[str, str]) -> None:
    answer = bed.run("slurm", **wrong)  # type: ignore[arg-type]
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert bed.calls("sbatch") == []
