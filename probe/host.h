/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file host.h
 * Where the ranks really run, as found on the machine and not as asked for.
 */
#ifndef ISO_HOST_H
#define ISO_HOST_H

#include <mpi.h>
#include <stdbool.h>

/** Place of one rank. Numbers as Linux counts them, -1 where not known. */
typedef struct iso_place {
    char host[MPI_MAX_PROCESSOR_NAME]; /**< MPI_Get_processor_name: what a
                                            simulator and a container are
                                            right about, too */
    int cpu, core, package, numa;
    int cpus; /**< processors of the host that are switched on */
    int node; /**< index of the host, in the order the ranks meet new ones */
} iso_place_t;

/**
 * Find out where all ranks run. Collective.
 *
 * @param simulated  the host's own files would tell of another machine
 * @return at rank 0 an array of one place a rank, released by free; else NULL
 */
iso_place_t *iso_host_gather(MPI_Comm comm, bool simulated);

#endif
