#!/usr/bin/env bash
# Builds programs of others for SimGrid from sources that are there already. Nothing is downloaded.
#
#     bench/peers/build.sh FOLDER osu=SOURCE imb=SOURCE linktest=SOURCE mpigraph=SOURCE hp2p=SOURCE \
#         nt2=SOURCE reprompi=SOURCE:SOURCE-OF-MPI-TIME-SYNC
#
# Prints what `make evaluation PEERS="…"` takes. CPPFLAGS and LDFLAGS find NetCDF (nt2) and GSL (reprompi).
# Tried with OSU 5.3, IMB 2021, LinkTest 1.2p1, mpiGraph 1.5, hp2p 4, network_tests2 and ReproMPI of 2025.
# Later OSU needs sessions of MPI 4, which SimGrid 3.32 lacks.
set -euo pipefail

usage() {
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

[ $# -ge 2 ] || usage
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
read -ra flags <<<"-O2 -w ${CPPFLAGS:-}"
read -ra libraries <<<"${LDFLAGS:-}"

# C and C++ sources to objects in $scratch/objects. PLAIN=1: without SimGrid's macros, which replace getopt,
# whose state of its own is not set back, and malloc, which C++ does not take.
compile() {
    local file
    mkdir -p "$scratch/objects"
    for file in "$@"; do
        local compiler=smpicc
        [[ $file == *.cpp ]] && compiler=smpicxx
        env ${PLAIN:+SMPI_PRETEND_CC=1} "$compiler" "${flags[@]}" "${more[@]}" -c "$file" \
            -o "$scratch/objects/$(tr -c 'a-zA-Z0-9\n' _ <<<"$file").o" | { grep -v '^Warning: smpicc' || true; }
    done
}

osu() {
    mkdir -p "$out/osu"
    local op
    smpicc "${flags[@]}" -I mpi/pt2pt mpi/pt2pt/osu_latency.c mpi/pt2pt/osu_pt2pt.c -lm -o "$out/osu/osu_latency"
    for op in bcast reduce allreduce gather scatter allgather alltoall; do
        smpicc "${flags[@]}" -I mpi/collective "mpi/collective/osu_$op.c" mpi/collective/osu_coll.c -lm \
            -o "$out/osu/osu_$op"
    done
}

imb() {
    cd src_cpp
    SMPI_PRETEND_CC=1 make --silent TARGET=MPI1 CC="smpicc -w" CXX="smpicxx -w" >/dev/null
    smpicxx $(find . -name '*.o') -o "$out/imb"
}

linktest() {
    cd src
    more=(-std=gnu89 -DUSELQBUFFERSEND -DBCASTDT -DUSE_SION -DLINKTEST_LINUX -D_LINUX
        -DMPI_UB=MPI_DATATYPE_NULL -I "$here")
    compile mpilinktest{,_kernel,_datastructures,_datastructures_par,_util,_util_machine,_output_sion}.c \
        mpilinktest_{output_sion_par,mapping}.c limprioqueue.c
    smpicc "$scratch"/objects/*.o -lm -o "$out/linktest"
}

mpigraph() {
    smpicc "${flags[@]}" mpiGraph.c -o "$out/mpigraph"
}

hp2p() {
    cd src
    more=(-I . -DVERSION='"of_sources"')
    compile ./*.c ./*.cpp
    smpicxx "$scratch"/objects/*.o -lm -o "$out/hp2p"
}

nt2() {
    cd src
    sed -e 's/@[a-zA-Z_]*@/./' ../parus_config.h.in >network_test/parus_config.h
    more=(-I network_test -I core)
    compile core/*.c $(ls network_test/*.c | grep -v print_from_to)
    smpicc "$scratch"/objects/*.o "${libraries[@]}" -lnetcdf -lm -o "$out/nt2"
}

reprompi() {
    local bench=src/reprompi_bench
    sed -e 's/@[A-Z_]*@/unknown/' src/version.h.in >src/version.h
    more=(-I src -I ../reprompi-sync/include -I ../reprompi-sync/src -I ../reprompi-sync
        -DOPTION_PRINT_MSIZES_BYTES -DFREQUENCY_MHZ=2300)
    PLAIN=1 compile src/benchmark*.c $bench/misc.c $bench/utils/*.c $bench/sync/*.c $bench/sync/process_sync/*.c \
        $bench/sync/common/sync_module_helpers.c $bench/output_management/*.c $bench/caching/*.c \
        $(ls $bench/option_parser/*.c | grep -v parse_extra) src/collective_ops/*.c src/buf_manager/mem_allocation.c \
        $(cd ../reprompi-sync && find src -name '*.c*' | grep -v -i 'hierarch\|topo_aware_sync\|hwloc\|Rdtsc' |
            sed 's,^,../reprompi-sync/,')
    smpicxx "$scratch"/objects/*.o "${libraries[@]}" -lgsl -lgslcblas -lm -o "$out/reprompi"
}

for one in "$@"; do
    name=${one%%=*} source=${one#*=} more=()
    case $name in
    osu | imb | linktest | mpigraph | hp2p | nt2 | reprompi) ;;
    *) echo "no program '$name': there are osu, imb, linktest, mpigraph, hp2p, nt2, reprompi" >&2 && exit 2 ;;
    esac
    [ "$name" = reprompi ] && cp -r "${source#*:}" "$scratch/reprompi-sync" && source=${source%%:*}
    [ -d "$source" ] || { echo "$source: no folder with the sources of $name" >&2 && exit 2; }
    cp -r "$source" "$scratch/$name"
    (cd "$scratch/$name" && "$name" >&2)
    rm -rf "$scratch/objects"
    echo "$name=$out/$name"
done
