/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file last_access.c
 * The parts of the last access of this thread, for a program that asks.
 */
#include "io_recorder/parts.h"
#include "machine/io_parts.h"
#include "preload/wrapper.h"
#include "recording/memory.h"

#include <math.h>

extern iso_io_parts_function_t isochrone_io_parts ISO_WRAPPER;

enum { MOST_USED, MOST_ROUNDS, MESSAGES_SEEN, FILE_SEEN, TOO_MANY, NUMBERS };
enum { MOST_SECONDS, LESS_OFFSETS, TIMES }; /* the last negative */

/** Combine the slots of all ranks; minima are sent negated. */
static iso_slot_sum_t *sum_of_slots(const iso_timing_t *timing, int count,
                                    MPI_Comm comm)
{
    size_t bytes = (size_t)count * 4 * sizeof(double);
    double *own = iso_zeroed(bytes), *all = iso_zeroed(bytes);
    iso_slot_sum_t *sums = iso_zeroed((size_t)count * sizeof(*sums));
    for (int k = 0; k < count; k++) {
        iso_slot_sum_t sum = {.sync = -1};
        if (k < timing->used) {
            iso_slot_sum_add(&sum, &timing->slots[k]);
        }
        own[4 * k] = sum.sync < 0 ? -INFINITY : -sum.sync;
        own[4 * k + 1] = sum.before;
        own[4 * k + 2] = sum.after;
        own[4 * k + 3] = sum.through;
    }
    PMPI_Allreduce(own, all, 4 * count, MPI_DOUBLE, MPI_MAX, comm);
    for (int k = 0; k < count; k++) {
        sums[k] = (iso_slot_sum_t){-all[4 * k], all[4 * k + 1], all[4 * k + 2],
                                   all[4 * k + 3]};
    }
    free(own);
    free(all);
    return sums;
}

void isochrone_io_parts(MPI_Comm comm, iso_io_parts_t *parts)
{
    const iso_timing_t *timing = iso_timing_last();
    int own[NUMBERS] = {timing->used, timing->rounds, timing->messages_seen,
                        timing->file_seen, timing->too_many};
    double own_times[TIMES] = {timing->seconds, -timing->offsets};
    int all[NUMBERS];
    double times[TIMES];
    PMPI_Allreduce(own, all, NUMBERS, MPI_INT, MPI_MAX, comm);
    PMPI_Allreduce(own_times, times, TIMES, MPI_DOUBLE, MPI_MAX, comm);
    *parts = (iso_io_parts_t){-1, -1, -1, -1, -1};
    if (all[TOO_MANY]) {
        return;
    }
    iso_slot_sum_t *sums = sum_of_slots(timing, all[MOST_USED], comm);
    iso_parts_t found = iso_parts_of(sums, all[MOST_USED], -times[LESS_OFFSETS],
                                     times[MOST_SECONDS]);
    if (all[MESSAGES_SEEN]) {
        parts->offsets = found.offsets;
        parts->counts = found.counts;
        parts->exchange = found.exchange;
        parts->rounds = all[MOST_ROUNDS];
    }
    if (all[FILE_SEEN]) {
        parts->file = found.file;
    }
    free(sums);
}
