/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file arrangement.h
 * The ranks of a communicator arranged as a grid, with a communicator for each
 * row and each column. Made once for each communicator and grid, cached with
 * the communicator (MPI attribute), and freed with it; a duplicate has none.
 *
 * Rows may have different lengths (rows-of-K, nodes). A column then lacks a
 * member in the short rows; the last rank of a short row substitutes for it,
 * so that each column has exactly one member in every row. It needs a
 * communicator for each such column.
 */
#pragma once

#include "grid/shape.h"

#include <mpi.h>

typedef struct {
    int size, rank;    /**< of the communicator */
    int rows;          /**< p1 */
    int longest;       /**< ranks of the longest row: p2, number of columns */
    const int *row_of; /**< row of each rank, shape (size) */
    const int *column_of; /**< place in its row, shape (size) */
    const int *lengths;   /**< ranks of each row, shape (rows) */
    const int *starts;    /**< ranks in the rows before it, shape (rows) */
    const int *heights;   /**< rows that have it, of a column, shape (longest);
                               other rows have a substitute */
    const int *members;   /**< ranks row by row, shape (size) */
    bool even;            /**< all rows are equally long */
    bool in_rank_order;   /**< members are 0, 1, 2, ... */
    /** Most blocks that an MPI call of any operation counts, the same at all
     *  ranks. */
    long long most_blocks;
    MPI_Comm row; /**< the ranks of my row, in the order of places */
    /** Columns, in the order of rows: those I am a member of or substitute in
     * are not MPI_COMM_NULL; shape (longest). */
    const MPI_Comm *columns;
    bool complete; /**< all ranks have their rows and columns; else the library
                        had no room for more communicators */
} iso_arrangement_t;

/**
 * Return the arrangement of a communicator. Collective in the first call.
 * Errors are returned, and not shown to its error handler.
 *
 * @return an MPI error code; MPI_ERR_ARG if the grid does not fit
 */
int iso_arrangement_of(MPI_Comm comm, const iso_grid_t *grid,
                       const iso_arrangement_t **arrangement);

/** Position in @a row of the member of, or substitute in, @a column. */
static inline int iso_arrangement_place(const iso_arrangement_t *a, int row,
                                        int column)
{
    int last = a->lengths[row] - 1;
    return column < last ? column : last;
}

/** The end of my columns: I am in column_of[rank], and substitute in those
 * after it up to here. */
static inline int iso_arrangement_columns_end(const iso_arrangement_t *a)
{
    int place = a->column_of[a->rank];
    return place == a->lengths[a->row_of[a->rank]] - 1 ? a->longest : place + 1;
}
