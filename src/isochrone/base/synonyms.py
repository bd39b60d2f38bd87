"""What users of other programs type, and what it is called here.

The words are those of the manuals of the OSU and Intel (IMB) benchmarks, LinkTest, mpirun and srun,
pyperf, hyperfine and Extra-P. A word may stand for several names; where it is typed, the first of
them counts that exists there. ``isochrone …`` exists everywhere.
"""

from collections.abc import Iterable

from isochrone.base.operations import COLLECTIVES
from isochrone.base.osu import OSU

_ROWS = """
# options: sizes, repetitions, ranks, files
--bytes | -m --size --sizes --msglen --msglog --msg --minlog --maxlog --length --count -s --len
--bytes | --at -mem -b
--repeats | -i -r -l --iterations --niter --nrep --runs --loops --values --samples --num-messages
--launches | -p --processes --runs --iterations --repeats -r -i --rigorous --append
--warmup | -x -w --skip
-n | -np -c --np --ntasks --nprocs --procs --processes -npmin --nranks --size -p
--op | --operations --collectives --benchmark --func
--type | -T
--mode | --type --direction --one-sided
--mode bidirectional | --bidirectional --bidir --duplex
isochrone measure bisection --mode bidirectional | --bidirectional --bidir
isochrone measure collective --op alltoall | --alltoall
--cache cold | --buffer-num --off-cache
--root rotating | --root-shift --rotate
--pairs-at-once | -multi --multi
isochrone measure point-to-point --pairs-at-once | --multi
--memory | -d --devices --buffer --cuda --rocm --gpu-buffers --accelerator
--window | -W --inflight
--time-limit | --timeout --time --max-seconds --secs-per-sample --duration -t
--kill-after | --timeout --time
--json | --export-json
--page | --html --report
--output | --html --page --report --out --outfile --export-json --file --save --savefig
--quiet | -q --silent --no-progress
--verbose | --debug -d --trace --show-output
--force | -f --clobber
--yes | -y --no-confirm
--dry-run | --just-print --show-command --simulate
--launcher | --mpirun --mpiexec --mpi --runner --scheduler --rm
--precision | --confidence --error --iter-policy
--retest | --slowest
--pairs | --peers
--mpicc | --cc --prefix
--schedule | --alternate --bisection --parallel --serial --group-processes-by-hostname
# options: judging, models, files
--margin | --noise --threshold --tolerance --min-speed --delta --epsilon --percent
--threshold | --margin --tolerance --limit --factor --outlier --fail-if --slower-than
--threshold | --max-slowdown --warn --warning --crit --critical -w -c
--worse | --slack --fail-on
--add | --save --store --update
--fail-on | --exit-code --error-on
--baseline | --reference --ref --history --compare --against --base -b
--view | --kind --type --chart --plot-type --figure
--family | --model --function --modeler --type --kind --shape --terms --log-exponents --degree
--family | --poly
--ranks | -p --processes --nprocs --np -np -n --ntasks --scale
--value | --metric --statistic --column --y --median --mean --average --aggregate
--across | --x --parameter --variable
--map-columns | --x --y --metric --columns --parameters --names --usecols
--scale | --log --loglog --linear
--size | --resolution
--font-size | --title-size --label-size
--style | --linewidth --lw --marker --cmap --colormap --palette --theme --colours
--to | --format --output-format --as --type --target
--from | --format --input-format --type --importer
--json | --format --output-format --as-json --machine-readable
isochrone export --to csv | --csv --format --export-csv --export-markdown --export-asciidoc --md
isochrone export --to csv | --markdown --latex --head --tail --sort --sort-by --query --filter
isochrone export --to csv | --columns --top --limit --rows
isochrone plot | --plot
isochrone export | --export
isochrone fit | --fit
isochrone compare | --compare
isochrone check | --check
isochrone suite quick | --fast --quick
isochrone suite full | --all
isochrone measure latency-map -n | -n --ranks --np
--hostfile | --hosts --machinefile --nodefile
--allow | --exclude --ignore --skip --except
--junit | --xml
--tuning | --table --tune
isochrone export --to | --to
--rebuild | --clean
build --rebuild | clean
--to | --predict --extrapolate
isochrone measure --help | experiments list
--help | --list --list-ops --list-tests --options --usage
isochrone predict collective --model | --point
--version | -V --ver
--for | --question --predict
--budget | --time-limit --time --timeout
# commands
measure | bench benchmark perf test start mpptest probe collect
record | time timeit command trace profile mpirun mpiexec srun launch
compare | diff vs ab
show | view get print cat info stats summary summarise hist dump ls open describe head tail
show | metadata slowest outliers analyse
report | page gui serve dashboard web export-html
plot | figure graph draw chart image png heatmap visualise render
fit | model regress regression modeler extrap
predict | extrapolate estimate forecast evaluate
check | verify health validate gate assert
doctor | status init diagnose env environment system setup collect_metadata
emulate | replay
import | load read convert-from
export | save write
show --pool | merge pool combine concat average
place nodes | hostfile rankfile
export --to csv | csv
baseline | reference
history | trend log timeline monitor watch
suite | all quick campaign sweep
config | configuration options
build | make install
tune | optimise
help | usage man
# what is tuned, placed, kept
collective-io | mpiio hints romio
collectives | bcast reduce allreduce gather scatter allgather alltoall algorithm algorithms
isochrone place aggregators | aggregators
nodes | hosts ranks mapping placement rankfile
program | app application
add | create new save set update
remove | delete rm
# modes and forms
bidirectional | bibw bi bidir duplex both
blocking | latency lat ping-pong
nonblocking | isend
bandwidth | bw
# formats, launchers, results
csv | excel xls txt markdown md latex
npz | hdf5 h5 netcdf
imb | intel-mpi-benchmarks
osu | osu_latency omb mvapich
isochrone show --json | json yml
srun | slurm
mpiexec-mpich | hydra intel
mpirun-openmpi | ompi mpirun orte prte
simgrid | smpi smpirun
hockney | alpha-beta linear latency-bandwidth
surface | 3d
levels | topology dendrogram
heatmap | matrix-plot image
distribution | histogram hist ecdf boxplot violin density
time | lines curve scatter loglog
"""
"""A name of ours, and words that mean it."""

_EXPERIMENTS = """
latency-map | map linktest all-pairs all2all-pairs netgauge mmpi
latency-map --mode bandwidth | mpigraph bandwidth-map
point-to-point | pingpong latency bandwidth pingping bw bibw sendrecv p2p exchange put get pt2pt
point-to-point | imb-mpi1 lat ping rate netpipe iperf3 perftest sockperf
point-to-point --pairs-at-once 1,2 | multi_lat mbw_mr multi-pingpong
point-to-point --threads 1,2 | latency_mt imb-mt pingpongmt threads
point-to-point --mode put | imb-rma imb-ext
collective --form nonblocking | imb-nbc overlap
bisection | cut biband uniband b_eff
matching | unexpected posted wildcard queue
hotspot | hot-spot incast
clock-sync | clocks skew
compute | flops cpu stream memcpy gemm hpl
tile-io | io mpi-io ior
startup | init finalize hello comm_split comm_dup
synthetic | fake simulated
app | application program halo stencil
"""
"""The same for experiments; where commands are typed, ``measure`` comes before them."""

_LAUNCHER_OPTIONS = (
    "--hostfile --machinefile --hosts --host -H -host -hosts -hostfile -machinefile --nodelist -w "
    "-N --nodes -ppn --ppn --npernode --ntasks-per-node --map-by --bind-to --cpu-bind --bind "
    "--oversubscribe --overcommit -O --rankfile -rankfile -rf --rank-by --report-bindings "
    "--use-hwthread-cpus --mca -mca -genv -env -iface --partition --account -A --qos --constraint "
    "--reservation --exclusive --gres --gpus --cpus-per-task --mem --distribution --bind-to-core "
    "--tag-output"
)
"""Options of mpirun and srun: only they know the value."""

_ADVICE = """
leave it out: everything is printed | --full -f --table --group-by-speed --text --print --details
leave it out: everything is printed | --long --wide -v --verbose -z --percentiles --tail-lat --fix
leave it out: everything is printed | --repair --describe --stats --info --summary
intervals and verdicts are those of 95 % | --alpha --confidence --ci --p-value --significance
results are always verified | --validation --validate -c
choose with --op, --test or --bytes | --only -include -exclude
the reference is the first: isochrone compare BEFORE AFTER | --reference --baseline --base
units follow from the values; --json has seconds | --time-units --units
each point is a median | --use-median --median --mean --average
lists measure several: -n 2,4,8 --bytes 8,1KiB | --parameter-scan --parameter-list -L
put it into the script that calls isochrone | --prepare --setup --cleanup --conclude --shell
start it with: taskset -c 0,1 isochrone … | --affinity --cpu-list --cpuset --pin
pairs are measured in a random order | --randomized --shuffle
write the file without an option | --app --input --in --infile --file
settings are in ~/.config/isochrone/config.toml | set get edit unset --global --local
copy the runs of these days into a folder | --since --last --until --days --after
-o FILE.svg and FILE.pdf have no resolution | --dpi
redirect it: > FILE | -o --output --outfile
open the file that -o writes | --show --interactive --open --browser
install it again, as before | update upgrade uninstall
print the HTML page from a browser | --pdf
in Python: isochrone.read(FILE).to_pandas() | dataframe pandas arrow feather
in Python: isochrone.plot(FILE).axes | --label --legend --xlim --ylim
write the times as a table: --from csv | hyperfine pyperf google-benchmark criterion
"""
"""What to do instead, and words for which nothing has a name here."""


def _pairs(table: str) -> list[tuple[str, str]]:
    """Return the name and the words of each line of a table."""
    rows = [line.partition(" | ") for line in table.splitlines()]
    return [(name, words) for name, bar, words in rows if bar]


def advice() -> dict[str, str]:
    """Return what to do instead of typing words that mean no name."""
    return {word: text for text, words in _pairs(_ADVICE) for word in words.split()}


def synonyms(names: Iterable[str]) -> dict[str, str]:
    """Return the words that stand for some of these names, and for which; the first row counts."""
    usable = {*names, "isochrone"}
    experiments = [(command, benchmark) for benchmark, command in OSU.items() if command]
    experiments += _pairs(_EXPERIMENTS)
    experiments += [(f"collective --op {op}", f"{op} osu_{op} mpi_{op}") for op in COLLECTIVES]
    rows = _pairs(_ROWS)
    for op in COLLECTIVES:
        rows += [(f"{op} --form nonblocking", f"i{op} mpi_i{op}"), (op, f"mpi_{op}")]
    rows += experiments
    if "measure" in usable:
        rows += [(f"measure {name}", words) for name, words in experiments]
    if "--launcher-arg" in usable:
        rows += [(f"--launcher-arg={word}", word) for word in _LAUNCHER_OPTIONS.split()]
        rows += [("--launcher-arg=--map-by", "--mapping -map --map")]
    meanings: dict[str, str] = {}
    for name, words in rows:
        if name.split()[0].partition("=")[0] in usable:
            for word in words.split():
                meanings.setdefault(word, name)
    return {word: name for word, name in meanings.items() if word not in usable}
