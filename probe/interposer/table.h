/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file table.h
 * The tuning table: which calls are done on a grid. Written, checked and
 * compiled by src/isochrone/collectives/tuning_table.py; here are the records
 * of the compiled file, as they lie in it.
 *
 * It does not change once it is read. Needs no MPI.
 */
#pragma once

#include "grid/shape.h"

#include <stdint.h>

enum {
    ISO_TABLE_PATH = 4096,
    ISO_MPI_NAME = 64,
};

/** Operations, in the order of iso_tunable_names. */
typedef enum {
    ISO_BCAST,
    ISO_GATHER,
    ISO_SCATTER,
    ISO_REDUCE,
    ISO_ALLREDUCE,
    ISO_ALLGATHER,
    ISO_ALLTOALL,
    ISO_REDUCE_SCATTER_BLOCK,
    ISO_TUNABLES, /**< how many there are */
} iso_tunable_t;

extern const char *const iso_tunable_names[ISO_TUNABLES];

/** Whether it combines values: floating-point sums depend on the order of
 * additions, which differs on a grid. */
bool iso_tunable_reduces(iso_tunable_t operation);

/** Rule entry of a size. */
typedef struct {
    double bytes;
    double library, grid; /**< seconds */
} iso_gain_t;

/** One choice. */
typedef struct {
    iso_tunable_t operation;
    int ranks, nodes; /**< of the communicator; nodes 0: any */
    iso_grid_t grid;
    int count, first;  /**< its points, by ascending bytes */
    int64_t low, high; /**< smallest and largest block, bytes */
} iso_rule_t;

/** What the file begins with. Rules and then points follow. */
typedef struct {
    char magic[24]; /**< with the version of the format */
    uint32_t sum;   /**< CRC-32 of all that follows */
    /** The first rule of each operation, and how many there are in all. */
    int first[ISO_TUNABLES + 1];
    char mpi[ISO_MPI_NAME];    /**< name and version it is for */
    char path[ISO_TABLE_PATH]; /**< of the table that was compiled */
    iso_rule_t rules[];        /**< by operation, ranks and block */
} iso_table_t;

/** Return why file contents are not a valid table, or NULL. */
const char *iso_table_check(const iso_table_t *table, size_t length);

/** Seconds saved by a rule for a block, by interpolation and extrapolation in
 * logarithms; may be negative. */
double iso_rule_saving(const iso_table_t *table, const iso_rule_t *rule,
                       double bytes);

/** Write name and version (ISO_MPI_NAME bytes) from MPI_Get_library_version:
 * "MPICH 5.0.2", "Open MPI v5.0.11". */
void iso_mpi_name(const char *library, char *name);
