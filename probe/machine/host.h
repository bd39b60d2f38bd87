/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file host.h
 * Where the ranks really run, as found on the machine and not as asked for.
 */
#ifndef ISO_HOST_H
#define ISO_HOST_H

#include "machine/surroundings.h"

#include <mpi.h>
#include <stdbool.h>

/** Place of one rank. Numbers as Linux counts them, -1 where not known. */
typedef struct iso_place {
    char host[MPI_MAX_PROCESSOR_NAME]; /**< MPI_Get_processor_name, which is
                                            right in a simulator and in a
                                            container, too */
    int cpu, core, package, numa;
    int cpus; /**< processors of the host that are switched on */
    int node; /**< index of the host, in the order the ranks meet new ones */
    uint32_t around[ISO_SURROUNDINGS]; /**< sums, equal where it is alike */
} iso_place_t;

/**
 * Find out where all ranks run. Collective.
 *
 * @param simulated  the host's own files would tell of another machine
 * @return at rank 0 an array of one place a rank, released by free; else NULL
 */
iso_place_t *iso_host_gather(MPI_Comm comm, bool simulated);

/** Where a rank is at this moment; changes unless it is bound. */
typedef struct iso_seat {
    int node, cpu; /**< cpu -1: not known */
    int movable;   /**< the system may move it to another processor */
} iso_seat_t;

enum { ISO_SEAT_INTS = sizeof(iso_seat_t) / sizeof(int) };

/** Find out where this rank, on node @a node, is now. */
iso_seat_t iso_host_seat(int node, bool simulated);

/**
 * Find out where this rank is, and leave the processor if another rank is on
 * it, too, and the system allows it; any other allowed processor will do, and
 * the system may move this rank as before.
 */
iso_seat_t iso_host_seat_beside(int node, bool simulated,
                                const iso_seat_t *other);

/** Whether two ranks sit on the same processor. */
bool iso_host_same_seat(const iso_seat_t *a, const iso_seat_t *b);

/** Bytes of memory that this machine can still give away; a large number if
 *  it does not say. */
double iso_host_memory(void);

#endif
