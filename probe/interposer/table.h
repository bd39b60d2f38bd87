/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file table.h
 * The tuning table: which calls are done on a grid. Written and described by
 * src/isochrone/collectives/tuning_table.py, whose checks these are, too.
 *
 * It does not change once it is read. Needs no MPI.
 */
#ifndef ISO_TABLE_H
#define ISO_TABLE_H

#include "grid/shape.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    ISO_TABLE_FORMAT = 1,
    ISO_TABLE_MAX_BYTES = 16 * 1024 * 1024,
    ISO_TABLE_MAX_RULES = 10000,
    ISO_TABLE_ERROR = 384, /**< bytes of a line about a bad table */
    ISO_MPI_NAME = 64,
};

/** Operations, in the order of iso_tunable_names. */
typedef enum iso_tunable {
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

/** Whether it combines values: sums of floating-point numbers depend on the
 *  order in which they are added, which is another one on a grid. */
bool iso_tunable_reduces(iso_tunable_t operation);

/** What is known of a size. */
typedef struct iso_gain {
    double bytes;
    double library, grid; /**< seconds */
} iso_gain_t;

/** One choice. */
typedef struct iso_rule {
    iso_tunable_t operation;
    int ranks, nodes;    /**< of the communicator; nodes 0: any */
    long long low, high; /**< smallest and largest block, bytes */
    iso_grid_t grid;
    const iso_gain_t *points; /**< shape (count), by ascending bytes */
    int count;
} iso_rule_t;

/** The rules of an operation on so many ranks, by ascending blocks. */
typedef struct iso_rules {
    int ranks;
    long long low, high; /**< no rule is for a block beyond these */
    const iso_rule_t *rules;
    int count;
} iso_rules_t;

typedef struct iso_table {
    char mpi[ISO_MPI_NAME]; /**< name and version it is for */
    iso_rule_t *rules;      /**< by operation, ranks and block */
    int count;
    iso_gain_t *points;          /**< of all rules */
    iso_rules_t *groups;         /**< of all rules, by operation and ranks */
    int first[ISO_TUNABLES + 1]; /**< the groups of an operation */
} iso_table_t;

/**
 * Read a table.
 * @return 0, or -1 with one line in @a error (ISO_TABLE_ERROR bytes) and
 *         nothing to release
 */
int iso_table_read(const char *text, size_t length, iso_table_t *table,
                   char *error);

void iso_table_free(iso_table_t *table);

/** Find the rules of an operation on so many ranks, or NULL. */
static inline const iso_rules_t *
iso_table_rules(const iso_table_t *table, iso_tunable_t operation, int ranks)
{
    int low = table->first[operation], high = table->first[operation + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (table->groups[middle].ranks == ranks) {
            return &table->groups[middle];
        }
        if (table->groups[middle].ranks < ranks) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/** Seconds that a rule saves with a block, between and beyond its points drawn
 *  on in logarithms; may be negative. */
double iso_rule_saving(const iso_rule_t *rule, double bytes);

/** Write name and version (ISO_MPI_NAME bytes) of what
 *  MPI_Get_library_version says: "MPICH 5.0.2", "Open MPI v5.0.11". */
void iso_mpi_name(const char *library, char *name);

#endif
