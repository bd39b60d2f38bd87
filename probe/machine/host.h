/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file host.h
 * Actual location of the ranks, read from the system.
 */
#pragma once

#include "machine/environment.h"

#include <mpi.h>
#include <stdbool.h>

/** Place of one rank. Numbers as Linux counts them, -1 where not known. */
typedef struct {
    char host[MPI_MAX_PROCESSOR_NAME]; /**< MPI_Get_processor_name, which is
                                            right in a simulator and in a
                                            container, too */
    int cpu;
    int core; /**< core_id: repeats in other packages, and on some systems in
                   parts of a package with other caches */
    int package, numa;
    int l2, l3; /**< lowest CPU that shares the cache of this level */
    int cpus;   /**< processors of the host that are switched on */
    int node;   /**< index of the host, in rank order */
    char processor[ISO_MODEL];        /**< model; "" if not known */
    uint32_t around[ISO_ENVIRONMENT]; /**< checksums, equal where the
                                         environment is */
} iso_place_t;

/**
 * Find out where all ranks run. Collective.
 *
 * @param simulated  do not read files of the host, which is not the simulated
 * machine
 * @return at rank 0 an array of one place a rank, released by free; else NULL
 */
iso_place_t *iso_host_gather(MPI_Comm comm, bool simulated);

/** Where a rank is at this moment; changes unless it is bound. */
typedef struct {
    int node, cpu; /**< cpu -1: not known */
    int movable;   /**< the system may move it to another processor */
} iso_location_t;

enum { ISO_LOCATION_INTS = sizeof(iso_location_t) / sizeof(int) };

/** Processors that this rank may use; 0: not known. */
int iso_host_allowed(void);

/** Locate this rank, which is on node @a node. */
iso_location_t iso_host_locate(int node, bool simulated);

/**
 * Locate this rank, and move it to another allowed processor if @a other is on
 * the same one. The affinity mask is unchanged afterwards.
 */
iso_location_t iso_host_avoid(int node, bool simulated,
                              const iso_location_t *other);

/** Whether two ranks are on the same processor. */
bool iso_host_same_cpu(const iso_location_t *a, const iso_location_t *b);

/** Available memory of this machine in bytes; a large number if unknown. */
double iso_host_memory(void);
