"""What users of other programs type, and what it is called here.

The words are those of the manuals of the OSU and Intel (IMB) benchmarks, LinkTest, mpirun and srun,
pyperf, hyperfine and Extra-P. A word may stand for several names; where it is typed, the first of
them counts that exists there. ``isochrone …`` exists everywhere.
"""

from collections.abc import Iterable

from isochrone.base.operations import COLLECTIVES
from isochrone.base.osu import OSU

_ROWS = (
    # options: sizes, repetitions, ranks, files
    (
        "--bytes",
        "-m --size --sizes --message-size --message-sizes --msg-size --min-msg-size "
        "--max-msg-size --msglen --msglog --msg --minlog --maxlog --length --count -s --nbytes "
        "--len",
    ),
    (
        "--repeats",
        "-i -r -l --iterations --iteration --iters --iter --niter --num-iterations "
        "--runs --loops --values --reps --samples --min-runs --num-messages --repeat --repetitions",
    ),
    ("--launches", "-p --processes --runs --iterations --repeats -r -i"),
    (
        "--warmup",
        "-x -w --warmup-iterations --warmups --num-warmup --skip --num-warmup-messages "
        "--warm-up --iter-warmup",
    ),
    (
        "-n",
        "-np -c --np --ntasks --nprocs --procs --processes --num-procs --tasks --npmin -npmin "
        "--nranks --ntasks-per-job --size -p",
    ),
    ("--op", "--operation --operations --collective --collectives --ops --benchmark --func"),
    ("--mode", "--type --direction --bidir --one-sided"),
    ("--memory", "-d --device --devices --buffer --buffer-type --cuda --rocm --gpu-buffers"),
    ("--window", "-W --window-size --inflight"),
    ("--time-limit", "--timeout --time --max-seconds --min-time --secs-per-sample --duration -t"),
    ("--kill-after", "--timeout --time"),
    ("--json", "--export-json"),
    ("--page", "--html --report"),
    (
        "--output",
        "--html --page --report --out --output-file --out-file --outfile --export-json --file "
        "--save -f",
    ),
    ("--quiet", "-q --silent --no-progress"),
    ("--verbose", "--debug -d --trace"),
    ("--force", "-f --overwrite --clobber"),
    ("--yes", "-y --no-confirm --assume-yes"),
    ("--dry-run", "--dryrun --just-print --show-command --simulate"),
    ("--launcher", "--mpirun --mpiexec --mpi --runner --scheduler --rm"),
    ("--precision", "--confidence --rel-precision --error"),
    ("--retest", "--num-slowest --slowest --retests"),
    ("--pairs", "--pair --peers"),
    ("--mpicc", "--cc --compiler --prefix"),
    ("--schedule", "--alternate --bisection --parallel --serial --group-processes-by-hostname"),
    # options: judging, models, files
    ("--margin", "--threshold --tolerance --min-speed --delta --epsilon --percent"),
    (
        "--threshold",
        "--margin --tolerance --limit --factor --outlier --fail-if --slower-than --max-slowdown",
    ),
    ("--worse", "--tolerance --margin"),
    ("--fail-on", "--fail --fail-if --exit-code --fail-above --error-on"),
    ("--baseline", "--baseline-dir --reference --ref --history --compare --against --base"),
    ("--view", "--kind --type --chart --plot-type --style --figure"),
    ("--family", "--model --formula --function --modeler --type --kind --shape --term --terms"),
    ("--model", "--models --model-file --from-model"),
    ("--ranks", "-p --procs --processes --nprocs --np -np -n --ntasks --scale"),
    ("--value", "--metric --statistic --column"),
    ("--to", "--format --output-format --as --type -f --target"),
    ("--from", "--format --input-format --type -f --importer"),
    ("--json", "--format --output-format --as-json --machine-readable"),
    ("isochrone export --to csv", "--csv --to-csv --format"),
    ("--help", "--list --list-ops --list-tests --options --usage"),
    ("isochrone predict collective --model", "--point --predict"),
    ("--bytes", "-b"),
    ("--version", "-V version --ver"),
    ("--for", "--question --predict"),
    ("--budget", "--time-limit --time --timeout --max-time"),
    # commands
    ("measure", "bench benchmark run-benchmark perf test start mpptest probe collect"),
    ("record", "run trace profile mpirun mpiexec srun launch"),
    ("compare", "diff compare_to compare-to vs ab"),
    ("show", "view get print cat info stats summary summarize summarise hist dump list ls open"),
    ("report", "html page dashboard web export-html"),
    ("plot", "figure graph draw chart image png heatmap visualize visualise render"),
    ("fit", "model regress regression modeler create-model extrap"),
    ("predict", "extrapolate estimate forecast evaluate"),
    ("check", "verify health validate gate assert"),
    ("doctor", "diagnose env environment system setup"),
    ("emulate", "simulate replay"),
    ("import", "load read convert-from"),
    ("export", "convert save write"),
    ("baseline", "reference"),
    ("history", "trend log timeline"),
    ("suite", "all quick campaign sweep"),
    ("config", "configure configuration settings options"),
    ("build", "compile make install"),
    ("tune", "optimize optimise autotune"),
    ("help", "usage man"),
    # what is tuned, placed, kept
    ("collective-io", "io mpi-io mpiio hints romio"),
    ("isochrone place aggregators", "aggregators"),
    ("nodes", "hosts ranks mapping placement rankfile"),
    ("program", "app application"),
    ("add", "create new save set update"),
    ("remove", "delete rm"),
    # modes and forms
    ("bidirectional", "bibw bi bidir duplex both"),
    ("blocking", "latency lat pingpong ping-pong"),
    ("nonblocking", "isend nonblock"),
    ("bandwidth", "bw"),
    *((f"{op} --form nonblocking", f"i{op} mpi_i{op}") for op in COLLECTIVES),
    *((op, f"mpi_{op}") for op in COLLECTIVES),
    # formats, launchers, results
    ("imb", "intel imb-mpi1 intel-mpi-benchmarks"),
    ("osu", "osu_latency osu-micro-benchmarks omb mvapich"),
    ("isochrone show --json", "json"),
    ("srun", "slurm"),
    ("mpiexec-mpich", "mpich hydra intel mpiexec"),
    ("mpirun-openmpi", "openmpi ompi mpirun orte prte"),
    ("simgrid", "smpi smpirun"),
    ("hockney", "alpha-beta linear latency-bandwidth"),
    ("loggp", "logp"),
    ("heatmap", "matrix-plot image"),
)
"""A name of ours, and words that mean it."""

_EXPERIMENTS = (
    *((command, benchmark) for benchmark, command in OSU.items() if command),
    ("latency-map", "map linktest latencymap all-pairs all2all-pairs netgauge mmpi"),
    ("latency-map --mode bandwidth", "mpigraph bandwidth-map"),
    (
        "point-to-point",
        "latency bandwidth pingpong pingping bw bibw sendrecv p2p "
        "ping-pong exchange put get pt2pt imb-mpi1",
    ),
    ("point-to-point --pairs-at-once 1,2", "multi_lat mbw_mr multi-pingpong"),
    ("point-to-point --threads 1,2", "latency_mt imb-mt pingpongmt threads"),
    ("bisection", "cut biband uniband"),
    ("matching", "unexpected posted wildcard queue tag-matching"),
    ("hotspot", "hot-spot incast"),
    ("clock-sync", "clock clocks clocksync skew"),
    ("compute", "flops cpu"),
    ("tile-io", "io mpi-io mpi-tile-io ior tileio imb-io"),
    ("startup", "init finalize hello comm_split comm_dup"),
    ("synthetic", "fake simulated"),
    ("app", "application program"),
    *((f"collective --op {op}", f"{op} osu_{op}") for op in COLLECTIVES),
)
"""The same for experiments; where commands are typed, ``measure`` comes before them."""

_LAUNCHER_OPTIONS = (
    "--hostfile --machinefile --hosts --host -H -hosts -hostfile -machinefile --nodelist -w "
    "-N --nodes -ppn --ppn --npernode --ntasks-per-node --map-by --bind-to --cpu-bind --bind "
    "--oversubscribe --overcommit -O"
)
"""Options of mpirun and srun: only they know the value."""


def synonyms(names: Iterable[str]) -> dict[str, str]:
    """Return the words that stand for some of these names, and for which; the first row counts."""
    usable = {*names, "isochrone"}
    rows = [*_ROWS, *_EXPERIMENTS]
    if "measure" in usable:
        rows += [(f"measure {name}", f"{name.split()[0]} {words}") for name, words in _EXPERIMENTS]
    if "--launcher-arg" in usable:
        rows += [(f"--launcher-arg={word}", word) for word in _LAUNCHER_OPTIONS.split()]
    meanings: dict[str, str] = {}
    for name, words in rows:
        if name.split()[0].partition("=")[0] in usable:
            for word in words.split():
                meanings.setdefault(word, name)
    return {word: name for word, name in meanings.items() if word not in usable}
