"""Each launcher returns exactly the tokens that start the ranks, and the right one is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.base.errors import InputError
from isochrone.measure import launcher as launchers
from isochrone.measure.launcher import Job

PROGRAM = ("/opt/probe", "latency-map", "--out", "a b.jsonl")


def job(**changes: object) -> Job:
    """A job of 8 ranks on 16 processors, not started by root."""
    values: dict[str, object] = {"ranks": 8, "program": PROGRAM, "processors": 16, "root": False}
    return Job(**{**values, **changes})  # type: ignore[arg-type]


CASES = [
    ("mpiexec-mpich", {}, ["mpiexec", "-n", "8", *PROGRAM]),
    ("mpiexec-mpich", {"extra": ("-f", "h")}, ["mpiexec", "-n", "8", "-f", "h", *PROGRAM]),
    ("mpirun-openmpi", {}, ["mpirun", "-n", "8", *PROGRAM]),
    ("mpirun-openmpi", {"root": True}, ["mpirun", "-n", "8", "--allow-run-as-root", *PROGRAM]),
    (
        "mpirun-openmpi",
        {"processors": 2},
        [
            "mpirun",
            "-n",
            "8",
            "--map-by",
            "slot:OVERSUBSCRIBE",
            "--bind-to",
            "none",
            "--mca",
            "mpi_yield_when_idle",
            "1",
            *PROGRAM,
        ],
    ),
    ("mpirun-openmpi", {"processors": None}, ["mpirun", "-n", "8", *PROGRAM]),
    ("srun", {}, ["srun", "--ntasks=8", *PROGRAM]),
    ("srun", {"extra": ("--mpi=pmi2",)}, ["srun", "--ntasks=8", "--mpi=pmi2", *PROGRAM]),
    ("flux", {}, ["flux", "run", "--ntasks=8", *PROGRAM]),
    (
        "generic",
        {"options": {"launcher_template": "ibrun -n {ranks} {program}"}},
        ["ibrun", "-n", "8", *PROGRAM],
    ),
    (
        "generic",
        {"options": {"launcher_template": "aprun -n{ranks}"}, "extra": ("-N", "4")},
        ["aprun", "-n8", "-N", "4", *PROGRAM],
    ),
    (
        "generic",
        {"options": {"launcher_template": "'/opt/my mpi/run' --np={ranks} {program} --last"}},
        ["/opt/my mpi/run", "--np=8", *PROGRAM, "--last"],
    ),
]


def test_tokens(subtests: pytest.Subtests) -> None:
    for launcher, changes, tokens in CASES:
        with subtests.test(str((launcher, changes, tokens))):
            assert launchers.load(launcher).command(job(**changes)) == tokens


def test_ranks_are_bound_where_each_has_a_core(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By no launcher where there are too few cores, and not where the library binds by itself."""
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "3(x2),2")
    for name, library, ranks, tokens in (
        ("mpiexec-mpich", "MPICH Version: 4.0", 4, ("-bind-to", "core")),
        ("mpiexec-mpich", "MPICH Version: 4.0", 5, ()),
        ("mpiexec-mpich", "Intel(R) MPI Library 2021", 4, ()),
        ("mpirun-openmpi", "Open MPI v4.1", 4, ("--bind-to", "core")),
        ("mpirun-openmpi", "Open MPI v4.1", 5, ()),
        ("srun", "", 8, ("--cpu-bind=cores",)),
        ("srun", "", 9, ()),
        ("generic", "", 1, ()),
    ):
        with subtests.test(name=name, library=library, ranks=ranks):
            binding = launchers.load(name).binding
            assert binding(job(ranks=ranks, cores=4, library=library)) == tokens
            if name != "srun":
                assert binding(job(ranks=ranks, library=library)) == ()
    monkeypatch.setenv("SLURM_CPU_BIND", "none")
    assert launchers.load("srun").binding(job(ranks=2)) == ()


def test_open_mpi_4_starts_ranks_on_a_host_without_ssh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def isolated(**changes: object) -> bool:
        command = launchers.load("mpirun-openmpi").command
        return "isolated" in command(job(**{"library": "Open MPI v4.1.4", **changes}))

    monkeypatch.setenv("PATH", str(tmp_path))
    assert isolated()
    assert not isolated(processors=None)
    assert not isolated(library="Open MPI v5.0.6")
    assert not isolated(extra=("--mca", "plm_rsh_agent", "oarsh"))
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", "")
    assert not isolated()


def test_the_users_own_choice_of_processors_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert launchers.cores({}) == 1
    assert launchers.cores({"HYDRA_BINDING": "none"}) is None
    assert launchers.cores({"PBS_JOBID": "7"}) is None
    monkeypatch.setattr("os.cpu_count", lambda: 2)  # taskset
    assert launchers.cores({}) is None


@pytest.mark.parametrize("template", ["", "   ", "run 'unclosed"])
def test_generic_needs_a_command_it_can_split(template: str) -> None:
    with pytest.raises(InputError):
        launchers.load("generic").command(job(options={"launcher_template": template}))


def test_a_template_is_never_seen_by_a_shell() -> None:
    tokens = launchers.load("generic").command(
        job(options={"launcher_template": "run $(reboot) ; {program}"})
    )
    assert tokens[:3] == ["run", "$(reboot)", ";"]


@pytest.mark.parametrize(
    ("environ", "library", "expected"),
    [
        ({}, "MPICH Version: 5.0.2", "mpiexec-mpich"),
        ({}, "Intel(R) MPI Library 2021.18", "mpiexec-mpich"),
        ({}, "MVAPICH2 Version : 2.3.7", "mpiexec-mpich"),
        ({}, "Open MPI v5.0.11, package: …", "mpirun-openmpi"),
        ({"SLURM_JOB_ID": "17"}, "Open MPI v5.0.11", "srun"),
        ({"SLURM_JOB_ID": "17"}, "Some Vendor's MPI", "srun"),
        ({"FLUX_URI": "local:///x"}, "MPICH Version: 5.0.2", "flux"),
    ],
)
def test_the_launcher_is_found_from_the_batch_system_and_then_from_the_mpi(
    tmp_path: Path, environ: dict[str, str], library: str, expected: str
) -> None:
    for name in ("srun", "flux"):
        (tmp_path / name).touch(mode=0o755)
    assert launchers.choose({"PATH": str(tmp_path), **environ}, library) == expected


def test_an_allocation_without_srun_falls_back_to_the_mpi(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path), "SLURM_JOB_ID": "17"}
    assert launchers.choose(environ, "MPICH Version: 4.1") == "mpiexec-mpich"


def test_an_unknown_mpi_is_a_question_to_the_user() -> None:
    with pytest.raises(InputError, match="--launcher generic"):
        launchers.choose({}, "Some Vendor's MPI 1.0")


def test_the_starter_is_the_sibling_of_the_compiler_wrapper(tmp_path: Path) -> None:
    """Two MPIs on the PATH must not be mixed: their ranks would all think they are alone."""
    for name in ("mpicc", "mpiexec", "mpicc.mpich", "mpiexec.mpich"):
        (tmp_path / name).touch(mode=0o755)
    assert job(mpicc=tmp_path / "mpicc").sibling("mpiexec") == str(tmp_path / "mpiexec")
    assert job(mpicc=tmp_path / "mpicc.mpich").sibling("mpiexec") == str(tmp_path / "mpiexec.mpich")
    assert job(mpicc=Path("/opt/cray/cc")).sibling("mpiexec") == "mpiexec"


def test_open_mpi_says_what_it_had_to_allow() -> None:
    warnings = launchers.load("mpirun-openmpi").warnings(job(root=True, processors=2))
    assert len(warnings) == 2


def test_a_simulation_computes_times_that_are_known_on_paper(tmp_path: Path) -> None:
    platform = tmp_path / "p.xml"
    platform.write_text("<platform/>")
    (tmp_path / "p.hosts").write_text("node-0\n" * 8)
    simgrid = launchers.load("simgrid")
    exact = job(options={"platform": platform}, program=("/opt/probe", "synthetic"))
    tokens = simgrid.command(exact)
    assert tokens[:5] == ["smpirun", "-np", "8", "-platform", str(platform)]
    assert tokens[5:7] == ["-hostfile", str(tmp_path / "p.hosts")]
    assert "--cfg=smpi/lat-factor:0:1" in tokens
    assert tokens[-2:] == ["/opt/probe", "synthetic"]
    calibrated = job(
        options={"platform": platform, "smpi_calibrated": True}, program=("/opt/probe", "synthetic")
    )
    assert "--cfg=smpi/lat-factor:0:1" not in simgrid.command(calibrated)
    assert simgrid.notes(exact)["platform-sha256"] == (
        "4e29286db5bd5b3473a18b5d5d7eb400e9397601291ef6ba8d2a3267a25a0fd1"
    )


@pytest.mark.parametrize(
    ("options", "program", "complaint"),
    [
        ({}, ("/opt/probe",), "needs --platform"),
        ({"platform": Path("absent.xml")}, ("/opt/probe",), "not exist"),
        ({"platform": Path(__file__)}, ("/opt/probe",), "SimGrid platform"),
    ],
)
def test_a_simulation_that_cannot_start_says_why(
    options: dict[str, object], program: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        launchers.load("simgrid").command(job(options=options, program=program))


@pytest.mark.parametrize(
    ("library", "conf", "environ", "extra", "token"),
    [
        ("MPICH Version: 5.0.2", "MpiDefault=none", {}, (), ["--mpi=pmi2"]),
        ("Open MPI v5.0.11", "ClusterName=x", {}, (), ["--mpi=pmix"]),
        ("Intel(R) MPI Library 2021.18", "mpidefault = None # ours", {}, (), ["--mpi=pmi2"]),
        ("CRAY MPICH version 8.1", "MpiDefault=cray_shasta", {}, (), []),
        ("MPICH Version: 5.0.2", "MpiDefault=pmix", {}, (), []),
        ("MPICH Version: 5.0.2", "Include more.conf", {}, (), []),
        ("MPICH Version: 5.0.2", None, {}, (), []),
        ("MPICH Version: 5.0.2", "MpiDefault=none", {"SLURM_MPI_TYPE": "pmix"}, (), []),
        ("MPICH Version: 5.0.2", "MpiDefault=none", {}, ("--mpi=cray_shasta",), []),
        ("Some Vendor's MPI", "MpiDefault=none", {}, (), []),
    ],
)
def test_srun_names_the_plug_in_for_mpi_only_where_neither_site_nor_user_has(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    conf: str | None,
    environ: dict[str, str],
    extra: tuple[str, ...],
    token: list[str],
) -> None:
    """Without a plug-in every rank is alone; with another than the site's none may start."""
    monkeypatch.delenv("SLURM_MPI_TYPE", raising=False)
    for name, value in {"SLURM_CONF": str(tmp_path / "slurm.conf"), **environ}.items():
        monkeypatch.setenv(name, value)
    if conf is not None:
        (tmp_path / "slurm.conf").write_text(conf)
    launcher, described = (
        launchers.load("srun"),
        job(library=library, extra=extra),
    )
    assert launcher.command(described) == ["srun", "--ntasks=8", *token, *extra, *PROGRAM]
    assert len(launcher.warnings(described)) == len(token)


@pytest.mark.parametrize(
    ("config", "exact"),
    [
        ("", True),
        ('<config><prop id="network/TCP-gamma" value="0"/></config>', True),
        ('<config><prop id="smpi/lat-factor" value="0:1;17:2"/></config>', False),
        ('<config><prop id="smpi/bw-factor" value="0:1;17:2"/></config>', False),
    ],
)
def test_a_platform_with_factors_of_its_own_keeps_them(
    config: str, exact: bool, tmp_path: Path
) -> None:
    """What a command line says would override them; settings of another sort do not matter."""
    platform = tmp_path / "p.xml"
    platform.write_text(f"<platform version='4.1'>{config}<zone id='w'/></platform>")
    asked = job(ranks=2, program=("probe",), options={"platform": platform})
    words = launchers.load("simgrid").command(asked)
    assert ("--cfg=smpi/bw-factor:0:1" in words) == exact


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mpiexec-mpich", ["-ppn", "2"]),
        ("mpirun-openmpi", ["--map-by", "ppr:2:node:OVERSUBSCRIBE"]),
        ("srun", ["--nodes=3", "--ntasks-per-node=2"]),
        ("flux", ["--nodes=3"]),
    ],
)
def test_ranks_on_a_node_are_words_before_those_of_the_user(
    name: str, words: list[str], tmp_path: Path
) -> None:
    """Five ranks, two on a node, are on three nodes."""
    chosen = launchers.load(name).per_node
    assert chosen is not None
    found = chosen({"launcher_arg": ["-x"]}, 5, 2, tmp_path)
    assert found == {"launcher_arg": [*words, "-x"]}


@pytest.mark.parametrize("name", ["mpiexec-mpich", "mpirun-openmpi", "srun"])
def test_ranks_with_several_threads_are_not_bound_to_a_core(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Their threads would take turns on it."""
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "16")
    library = {"mpiexec-mpich": "MPICH Version: 4.0", "mpirun-openmpi": "Open MPI v5.0"}.get(
        name, ""
    )
    launcher = launchers.load(name)
    for threads in (1, 2):
        started = job(ranks=2, cores=16, library=library, threads=threads)
        assert bool(launcher.binding(started)) == (threads == 1)
    if name == "mpirun-openmpi":  # which binds two ranks by default
        assert launcher.command(started)[3:5] == ["--bind-to", "none"]
        assert job(ranks=2, processors=3, threads=2).oversubscribed


def test_a_mapping_of_the_user_replaces_that_of_oversubscribed_ranks() -> None:
    extra = ("--map-by", "ppr:4:node")
    found = launchers.load("mpirun-openmpi").command(job(processors=2, extra=extra))
    assert found == ["mpirun", "-n", "8", *extra, *PROGRAM]
