#!/bin/bash
#flux: --job-name=health
#flux: --nodes=4
#flux: --exclusive
#flux: --time-limit=30m
#flux: --output=health-{{id}}.log
#
# Health job for Flux. It measures its nodes against each other and names the bad ones.
#
#     bash health-job.flux                     submits itself to all nodes that are up (for cron)
#     HEALTH_PARTS=4 bash health-job.flux      submits itself to a quarter of them, each night another
#     flux batch --nodes=32 health-job.flux    runs on 32 nodes that Flux chooses
#
# Arguments after the name of the script go to flux batch, for example --queue=batch.
# docs/nightly-health-check.md describes the settings, the files and the exit codes.

# If your MPI is a module, load it here:  module load openmpi

# Of the instance that flux batch starts; the instance of the system has none. In digits: for names of files.
job=$(flux getattr jobid 2>/dev/null) && job=$(flux job id --to=dec "$job" || echo "$job")

expanded() { flux hostlist --expand --delimiter=$'\n' "$@"; }

all_nodes() { expanded instance | sort --version-sort --unique; }

nodes_up() { expanded avail; }

nodes_of_job() { all_nodes; }

submit() { # nodes, one per line, then options of the user
    local count
    count=$(wc -l <<<"$1")
    exec flux batch --nodes="$count" --requires="host:$(paste -sd, <<<"$1")" "${@:2}" "$0"
}

answers() { flux run --nodes=1 --ntasks=1 --requires="host:$1" --time-limit=1m true; }

drain() { flux --parent resource drain "$1" "$2"; } # in the instance of the system, not of this job

# ---- From here on, the files for Slurm, PBS and Flux are the same. ----
set -uo pipefail

wrong_setting() {
    echo "health job: $*" >&2
    exit 2
}

parts=${HEALTH_PARTS:-1}
max_drain=${HEALTH_MAX_DRAIN:-5%}
[[ $parts =~ ^[1-9][0-9]{0,3}$ ]] || wrong_setting "HEALTH_PARTS is a number of parts, not '$parts'"
[[ $max_drain =~ ^[0-9]{1,3}%$ ]] || wrong_setting "HEALTH_MAX_DRAIN is such as 5%, not '$max_drain'"

if [[ -z $job ]]; then # not in a job: submit one
    part=${HEALTH_PART:-$(($(date +%s) / 86400 % parts))}
    [[ $part =~ ^[0-9]{1,4}$ ]] || wrong_setting "HEALTH_PART is a number, not '$part'"
    ((part < parts)) || wrong_setting "HEALTH_PART is below HEALTH_PARTS=$parts"
    nodes=$(all_nodes | awk -v parts="$parts" -v part="$part" 'NR % parts == part' |
        grep -Fx -f <(nodes_up))
    [[ -n $nodes ]] || wrong_setting "no node of part $part is up"
    submit "$nodes" "$@"
fi

name=${HEALTH_FOLDER:-.}/health-$job
mapfile -t nodes < <(nodes_of_job)

# Drains the nodes of this job that are in a list of hosts, unless they are too many.
drain_hosts() { # file, reason
    local host node bad=() most=$((${#nodes[@]} * ${max_drain%\%} / 100))
    ((most > 0)) || most=1
    while read -r host; do
        for node in "${nodes[@]}"; do
            [[ $node == "$host" || $node == "${host%%.*}" ]] && bad+=("$node")
        done
    done <"$1"
    if ((${#bad[@]} > most)); then
        echo "not drained: ${#bad[@]} of ${#nodes[@]} nodes are bad, more than HEALTH_MAX_DRAIN=$max_drain"
    elif [[ ${HEALTH_DRAIN:-no} == yes ]]; then
        for node in "${bad[@]}"; do
            drain "$node" "$2" && echo "drained: $node"
        done
    elif ((${#bad[@]})); then
        echo "not drained, because HEALTH_DRAIN is not yes: ${bad[*]}"
    fi
}

read -ra measured <<<"${HEALTH_OPTIONS:---bytes 64,1MiB --time-limit 900}"
[[ -d ${HEALTH_BASELINE:-} ]] && measured+=(--baseline "$HEALTH_BASELINE")
measure() { isochrone measure latency-map "${measured[@]}" -o "$name.jsonl" --force; }

for attempt in first second third; do # some MPIs crash now and then in MPI_Init
    measure && break
    for node in "${nodes[@]}"; do
        answers "$node" >/dev/null 2>&1 || echo "$node"
    done >"$name.hosts"
    if [[ -s $name.hosts ]]; then
        echo "no answer: $(paste -sd' ' "$name.hosts")"
        drain_hosts "$name.hosts" "no answer in health job $job"
        exit 1
    fi
    echo "all nodes answer, but the $attempt attempt to measure failed"
    [[ $attempt != third ]] || exit 3
done

options=(--hosts-out "$name.hosts" --suspects-out "$name.suspects" --junit "$name.xml" --force)
[[ -n ${HEALTH_BASELINE:-} ]] && options+=(--baseline "$HEALTH_BASELINE" --add)
[[ -n ${HEALTH_METRICS:-} ]] && options+=(--openmetrics "$HEALTH_METRICS")
for rule in ${HEALTH_ALLOW:-}; do
    options+=(--allow "$rule")
done
isochrone check "$name.jsonl" "${options[@]}" | tee "$name.txt"
verdict=${PIPESTATUS[0]}

case $verdict in
0) ;;                                                     # good
1) drain_hosts "$name.hosts" "slow in health job $job" ;; # slow, or slower than on earlier nights
4) echo "not known: nothing is drained" ;;
esac
exit "$verdict"
