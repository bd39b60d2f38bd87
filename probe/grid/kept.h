/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file kept.h
 * What is kept with a communicator, by an MPI attribute: a list that lives as
 * long as the communicator, at most until MPI_Finalize begins. A duplicate of
 * the communicator has none of it.
 */
#ifndef ISO_GRID_KEPT_H
#define ISO_GRID_KEPT_H

#include <mpi.h>

/** To stand first in what is kept. */
typedef struct iso_kept {
    struct iso_kept *next;
    void (*release)(struct iso_kept *kept); /**< frees it; may call MPI */
} iso_kept_t;

/** The first of those kept with @a comm, the newest; NULL if there is none. */
iso_kept_t *iso_kept_first(MPI_Comm comm);

/**
 * Keep @a kept until @a comm is freed.
 * @return an MPI error code; if it is one, @a kept is still the caller's
 */
int iso_kept_add(MPI_Comm comm, iso_kept_t *kept);

#endif
