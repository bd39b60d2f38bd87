#!/bin/bash
# Measures one machine and packs what was found into one bundle without names.
#
#     sbatch --nodes=8 --wrap 'contrib/field-trial/field-trial.sh -o trial'
#     contrib/field-trial/field-trial.sh -n 16 -o trial -- mpiexec -n 16 ./app input
#
# It takes about ten minutes: what is used here (doctor), a latency map, a size sweep of two ranks,
# four collectives, the verdict of check, and the MPI calls of one program if a command is given.
# What fails is noted, and the rest goes on. The bundle, FOLDER.tar.gz, holds run files without
# hosts, paths, commands and users, and what the commands printed of them. The files with names stay
# in FOLDER; send the bundle only, and look into it first.
set -uo pipefail
ranks=() folder=field-trial minutes=8
usage() {
    sed -n '2,11s/^# \{0,1\}//p' "$0"
    exit "$1"
}
while getopts n:o:m:h option; do
    case $option in
    n) ranks=(-n "$OPTARG") ;;
    o) folder=$OPTARG ;;
    m) minutes=$OPTARG ;;
    h) usage 0 ;;
    *) usage 2 >&2 ;;
    esac
done
shift $((OPTIND - 1))

command -v isochrone >/dev/null || {
    echo "field-trial: isochrone is not on the PATH: pip install isochrone" >&2
    exit 2
}
if [[ -e $folder || -e $folder.tar.gz ]]; then
    echo "field-trial: $folder exists: choose another one with -o" >&2
    exit 2
fi
mkdir -p "$folder/bundle" || exit 2

failed=0
step() { # NAME SECONDS COMMAND...: its output is kept; a failure is noted, and the rest goes on
    local name=$1 seconds=$2
    shift 2
    echo "field-trial: $name"
    timeout "$seconds" "$@" >"$folder/$name.txt" 2>&1 </dev/null
    local code=$?
    echo "$name $code" >>"$folder/bundle/exit-codes.txt"
    ((code <= 1 || code == 4)) || failed=$((failed + 1))
}

each=$((minutes * 20 > 2 ? minutes * 20 : 2)) # seconds of each of three measurements
measure() { # NAME EXPERIMENT OPTIONS...
    local name=$1
    shift
    step "$name" $((2 * each + 120)) isochrone measure "$@" --time-limit "$each" --yes --quiet \
        -o "$folder/$name.jsonl"
}
step doctor 120 isochrone doctor --json "${ranks[@]}"
measure map latency-map "${ranks[@]}"
measure pair point-to-point -n 2
measure collectives collective "${ranks[@]}"
step check 300 isochrone check "$folder/map.jsonl" --json
if (($#)); then
    step program 7200 isochrone record -o "$folder/program.jsonl" -- "$@"
fi

for run in "$folder"/*.jsonl; do
    [[ -s $run ]] || continue
    name=$(basename "$run" .jsonl)
    isochrone export "$run" --anonymise -o "$folder/bundle/$name.jsonl" >>"$folder/names.txt" 2>&1 &&
        isochrone show "$folder/bundle/$name.jsonl" >"$folder/bundle/$name.txt" 2>&1
done
isochrone --version >"$folder/bundle/version.txt" 2>&1
tar -czf "$folder.tar.gz" -C "$folder" bundle || exit 3
echo "field-trial: $folder.tar.gz is ready ($failed steps failed); names are in $folder/names.txt only"
((failed == 0)) || exit 3
