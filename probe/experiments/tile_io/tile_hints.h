/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tile_hints.h
 * Hints for the MPI-IO library, and the hints it reports.
 */
#pragma once

#include "experiment.h"
#include "experiments/tile_io/tiling.h"

/**
 * Read "key=value,key=value". A word without "=" belongs to the value before
 * it, so cb_config_list=n3,n1,*:1 is one hint.
 *
 * @param info   receives the hints if it is not NULL
 * @param error  at least ISO_ERROR_LENGTH bytes
 * @return 0, or -1 with one line in @a error
 */
int iso_hints_parse(const char *text, MPI_Info *info, char *error);

/**
 * Write what the library reports: a "hint" record each, and warnings where the
 * file was not accessed collectively or a requested hint was ignored. At rank
 * 0.
 *
 * @param writers  ranks observed to write the file; 0: not known
 */
void iso_hints_record(const iso_context_t *ctx, const iso_tiling_t *tiling,
                      MPI_Info used, MPI_Info requested, int writers);

/**
 * The ranks that the library reports as aggregators, in their order. On all
 * ranks, as rank 0's library reports.
 *
 * @return released by free; NULL with *count 0 if not reported
 */
int *iso_hints_aggregators(const iso_context_t *ctx, MPI_Info used, int *count);

/** A numeric hint of rank 0, on all ranks. */
long long iso_hints_number(const iso_context_t *ctx, MPI_Info used,
                           const char *key, long long otherwise);
