#!/bin/bash
# Writes a run file as the probe does, in a tenth of a second: whole lines, into the file that it has
# opened. Says in $LOG when it begins and when it ends. Each launch has a number of its own.
experiment=$2
while [ $# -gt 0 ]; do
    [ "$1" = --out ] && out=$2
    [ "$1" = --force ] && force=1
    [ "$1" = --note ] && notes="$notes\"${2%%=*}\":\"${2#*=}\","
    shift
done
if [ -z "$force" ] && [ -e "$out" ]; then
    echo "isochrone-probe: $out: File exists" >&2
    exit 2
fi
exec 3>"$out"
id=$$-$RANDOM$RANDOM
echo "{\"record\":\"run\",\"format\":1,\"experiment\":\"$experiment\",\"ranks\":2," \
     "\"started\":\"2026-01-01T00:00:00Z\",\"options\":{}," \
     "\"clock\":{\"granularity\":1e-9,\"cost\":1e-8,\"simulated\":false}," \
     "\"notes\":{$notes\"id\":\"$id\"}}" >&3
echo '{"record":"rank","rank":0,"host":"h","node":0,"cpu":0}' >&3
echo '{"record":"rank","rank":1,"host":"h","node":0,"cpu":1}' >&3
echo "begins $id $out" >> "$LOG"
for k in 0 1 2 3 4 5; do
    for bytes in 8 262144; do
        echo "{\"record\":\"sample\",\"bytes\":$bytes,\"repeat\":$k,\"seconds\":1e-6}" >&3
    done
    sleep 0.01
done
echo '{"record":"end","seconds":0.1,"complete":true}' >&3
echo "ends $id $out" >> "$LOG"
