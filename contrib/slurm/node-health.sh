#!/bin/bash
# A quick look at this node alone, for slurm.conf:
#
#     HealthCheckProgram=/opt/isochrone/node-health.sh
#     HealthCheckInterval=3600
#     HealthCheckNodeState=IDLE,CYCLE
#
# IDLE, since it would disturb jobs and be disturbed by them; CYCLE, so that nodes do not run it at
# the same moment. Slurm kills it after 60 seconds. It looks at the memory that ranks of this node
# share, and at no network: for that there is health-job.sbatch, which is a job.
#
# Do not put this, or any measurement, into Prolog or Epilog: every job waits for them, a node whose
# prolog fails is drained, and Slurm's documentation warns against long ones and against calling
# scontrol and the like there, which asks slurmctld once a node at the same moment.
#
# Settings are read from /etc/default/isochrone-health, if there is such a file:
#
#     HEALTH_RANKS=8                 ranks to start; as many as processors if those are fewer. Of fewer
#                                    than six nothing slow is known without HEALTH_BASELINE
#     HEALTH_BASELINE=/path          earlier runs of this node, kept there by `isochrone baseline add`
#     HEALTH_DRAIN=yes               drain this node if it is slow; else it is only logged
#     PATH=/opt/isochrone/bin:$PATH  where isochrone and mpiexec are
set -uo pipefail
settings=${HEALTH_SETTINGS:-/etc/default/isochrone-health}
# shellcheck source=/dev/null
[[ -r $settings ]] && source "$settings"

folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
say() {
    echo "isochrone: $*"
    logger -t isochrone-health -- "$*" 2>/dev/null
}

processors=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) # of these it takes notice
ranks=${HEALTH_RANKS:-8}
((ranks > processors)) && ranks=$processors
if ((ranks < 2)); then
    say "nothing to measure between $ranks ranks"
    exit 0
fi

if ! timeout 45 isochrone measure latency-map -n "$ranks" --time-limit 20 -o "$folder/map.jsonl" \
    >"$folder/measured" 2>&1 </dev/null; then
    say "cannot measure: $(tail -n 1 "$folder/measured")"
    exit 3
fi
options=()
if [[ -n ${HEALTH_BASELINE:-} && -d $HEALTH_BASELINE ]]; then
    options+=(--baseline "$HEALTH_BASELINE")
fi
isochrone check "$folder/map.jsonl" "${options[@]}" >"$folder/said" 2>&1 </dev/null
verdict=$?
if [[ $verdict != 1 ]]; then
    say "$(head -n 1 "$folder/said")"
    exit "$verdict"
fi
say "$(head -n 3 "$folder/said" | tr '\n' ' ')"
if [[ ${HEALTH_DRAIN:-} == yes ]]; then
    scontrol update "NodeName=${SLURMD_NODENAME:-$(hostname -s)}" State=DRAIN \
        Reason="slow by itself: isochrone" && say "drained"
fi
exit 1
