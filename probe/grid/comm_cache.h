/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file comm_cache.h
 * Per-communicator cache, stored as an MPI attribute: a list that lives as
 * long as the communicator, at most until MPI_Finalize begins. A duplicate
 * starts empty.
 */
#pragma once

#include <mpi.h>

/** Header of a cached entry: its first member. */
typedef struct iso_cached {
    struct iso_cached *next;
    void (*release)(struct iso_cached *entry); /**< frees it; may call MPI */
} iso_cached_t;

/** The newest entry of @a comm; NULL if there is none. */
iso_cached_t *iso_comm_cache_first(MPI_Comm comm);

/**
 * Cache @a entry until @a comm is freed.
 * @return an MPI error code; if it is one, @a entry is still the caller's
 */
int iso_comm_cache_add(MPI_Comm comm, iso_cached_t *entry);
