#!/usr/bin/env bash
# Builds well-known miniapps from sources that are there already. Nothing is downloaded.
#
#     MPICC=mpicc MPICXX=mpicxx bench/programs/build.sh FOLDER hpcg=SOURCE lulesh=SOURCE minife=SOURCE amg=SOURCE \
#         chatterbug=SOURCE
#
# Programs go to FOLDER/bin under these names. Sources stay as they are: a copy is built. To use
# them: isochrone record -- mpiexec -n 8 FOLDER/bin/lulesh -s 10 -i 20
set -euo pipefail

usage() {
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

[ $# -ge 2 ] || usage
export MPICC=${MPICC:-mpicc} MPICXX=${MPICXX:-mpicxx}
kept=$(mkdir -p "$1/bin" && cd "$1/bin" && pwd)
shift
scratch=$(mktemp -d)
bin=$scratch/bin
trap 'rm -rf "$scratch"' EXIT

hpcg() {
    "$MPICXX" -O2 -w -DHPCG_NO_OPENMP -I src src/*.cpp -o "$bin/hpcg"
}

lulesh() {
    "$MPICXX" -O2 -w -DUSE_MPI=1 ./*.cc -o "$bin/lulesh"
}

minife() {
    cd ref/src
    ./generate_info_header "$MPICXX" "-O2" miniFE MINIFE >/dev/null
    "$MPICXX" -O2 -w -I. -I../utils -I../fem -DHAVE_MPI -DMPICH_IGNORE_CXX_SEEK -DMINIFE_SCALAR=double \
        -DMINIFE_LOCAL_ORDINAL=int -DMINIFE_GLOBAL_ORDINAL=int -DMINIFE_CSR_MATRIX \
        ./*.cpp ../utils/*.cpp -o "$bin/minife"
}

amg() {
    make --silent CC="$MPICC" \
        INCLUDE_CFLAGS="-O2 -w -DTIMER_USE_MPI -DHYPRE_USING_PERSISTENT_COMM -DHYPRE_BIGINT" INCLUDE_LFLAGS=-lm
    cp test/amg "$bin/amg"
}

chatterbug() { # eight programs, each in a folder of its name
    for program in */*.C; do
        "$MPICXX" -O2 -w "$program" -o "$bin/$(basename "$program" .C)"
    done
}

for one in "$@"; do
    name=${one%%=*} source=${one#*=}
    case $name in
    hpcg | lulesh | minife | amg | chatterbug) ;;
    *) echo "no miniapp '$name': there are hpcg, lulesh, minife, amg, chatterbug" >&2 && exit 2 ;;
    esac
    [ -d "$source" ] || { echo "$source: no folder with the sources of $name" >&2 && exit 2; }
    cp -r "$source" "$scratch/$name"
    mkdir "$bin"
    (cd "$scratch/$name" && "$name" >&2)
    for made in "$bin"/*; do
        echo "$kept/$(basename "$made")"
    done
    mv "$bin"/* "$kept" && rmdir "$bin"
done
