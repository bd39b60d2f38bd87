/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/collectives.h"
#include "grid/phases.h"
#include "grid/rows.h"

#include <stdlib.h>
#include <string.h>

/** An exchange in which the parts may have different sizes. */
typedef struct {
    int parts;
    int *memory;            /**< of the following, which have shape (parts) */
    int *to, *to_start;     /**< bytes to each, and those before them */
    int *from, *from_start; /**< bytes from each, and those before them */
} exchange_t;

static bool exchange_alloc(exchange_t *x, int parts)
{
    x->parts = parts;
    x->memory = x->to = calloc(4 * (size_t)parts, sizeof(int));
    if (x->memory == NULL) {
        return false;
    }
    x->to_start = x->to + parts;
    x->from = x->to_start + parts;
    x->from_start = x->from + parts;
    return true;
}

static int exchange_run(exchange_t *x, const char *send, char *receive,
                        MPI_Comm comm)
{
    for (int k = 1; k < x->parts; k++) {
        x->to_start[k] = x->to_start[k - 1] + x->to[k - 1];
        x->from_start[k] = x->from_start[k - 1] + x->from[k - 1];
    }
    return PMPI_Alltoallv(send, x->to, x->to_start, MPI_BYTE, receive, x->from,
                          x->from_start, MPI_BYTE, comm);
}

/** Blocks for a whole column, and those for which rank @a place of a row of @a
 * length ranks substitutes. */
static int blocks_through(const iso_arrangement_t *a, int length, int place)
{
    int end = place == length - 1 ? a->longest : place + 1, blocks = 0;
    for (int c = place; c < end; c++) {
        blocks += a->heights[c];
    }
    return blocks;
}

/** Blocks of this rank between the phases. */
static size_t blocks_between(const iso_arrangement_t *a)
{
    int length = a->lengths[a->row_of[a->rank]];
    return length * (size_t)blocks_through(a, length, a->column_of[a->rank]);
}

/** Pack the blocks for all ranks, column by column. */
static int pack_by_columns(const iso_arrangement_t *a, const iso_blocks_t *all,
                           char *packed)
{
    int error = MPI_SUCCESS;
    for (int c = 0; c < a->longest; c++) {
        for (int r = 0; r < a->rows; r++) {
            if (c < a->lengths[r]) {
                int to = a->members[a->starts[r] + c];
                error = iso_phases_first(
                    error, iso_blocks_pack(all, to, packed, a->row));
                packed += all->bytes;
            }
        }
    }
    return error;
}

/** First phase: send each position of my row the blocks of its columns. */
static int along_row(const iso_arrangement_t *a, const char *send,
                     char *receive, int bytes)
{
    int length = a->lengths[a->row_of[a->rank]], place = a->column_of[a->rank];
    if (a->even) {
        return PMPI_Alltoall(send, a->rows * bytes, MPI_BYTE, receive,
                             a->rows * bytes, MPI_BYTE, a->row);
    }
    exchange_t x;
    if (!exchange_alloc(&x, length)) {
        return MPI_ERR_NO_MEM;
    }
    for (int k = 0; k < length; k++) {
        x.to[k] = blocks_through(a, length, k) * bytes;
        x.from[k] = blocks_through(a, length, place) * bytes;
    }
    int error = exchange_run(&x, send, receive, a->row);
    free(x.memory);
    return error;
}

/** Between the phases: from the order of senders to that of receivers, in
 *  columns from @a c on, each of which has the rows one after the other. */
static void turn(const iso_arrangement_t *a, const char *from, char *to,
                 size_t bytes)
{
    int length = a->lengths[a->row_of[a->rank]], place = a->column_of[a->rank];
    int blocks = blocks_through(a, length, place);
    for (int b = 0; b < blocks; b++) {
        for (int s = 0; s < length; s++) {
            memcpy(to, from + (s * blocks + (size_t)b) * bytes, bytes);
            to += bytes;
        }
    }
}

/** Second phase in a column; a substitute receives nothing.
 */
static int along_uneven_column(const iso_arrangement_t *a, int column,
                               const char *send, char *receive, int bytes)
{
    int length = a->lengths[a->row_of[a->rank]];
    exchange_t x;
    if (!exchange_alloc(&x, a->rows)) {
        return MPI_ERR_NO_MEM;
    }
    for (int r = 0; r < a->rows; r++) {
        x.to[r] = column < a->lengths[r] ? length * bytes : 0;
        x.from[r] = column == a->column_of[a->rank] ? a->lengths[r] * bytes : 0;
    }
    int error = exchange_run(&x, send, receive, a->columns[column]);
    free(x.memory);
    return error;
}

/** Second phase: send each row of my column the blocks of my row. */
static int along_columns(const iso_arrangement_t *a, const char *send,
                         char *receive, int bytes)
{
    int length = a->lengths[a->row_of[a->rank]], place = a->column_of[a->rank];
    if (a->even) {
        return PMPI_Alltoall(send, length * bytes, MPI_BYTE, receive,
                             length * bytes, MPI_BYTE, a->columns[place]);
    }
    int error = MPI_SUCCESS, end = iso_arrangement_columns_end(a);
    for (int c = place; c < end; c++) {
        error = iso_phases_first(
            error, along_uneven_column(a, c, send, receive, bytes));
        send += a->heights[c] * (size_t)length * bytes;
    }
    return error;
}

static int alltoall(const iso_arrangement_t *a, const iso_blocks_t *outgoing,
                    const iso_blocks_t *incoming)
{
    size_t bytes = incoming->bytes, between = blocks_between(a);
    size_t room = between > (size_t)a->size ? between : (size_t)a->size;
    char *first = malloc(room * bytes), *second = malloc(room * bytes);
    int error = MPI_ERR_NO_MEM;
    if (first != NULL && second != NULL) {
        error = pack_by_columns(a, outgoing, first);
        error = iso_phases_first(error, along_row(a, first, second, bytes));
        turn(a, second, first, bytes);
        char *rows =
            iso_rows_in_buffer(a, incoming) ? incoming->buffer : second;
        error = iso_phases_first(error, along_columns(a, first, rows, bytes));
        error = iso_phases_first(error, iso_rows_unpack(a, incoming, rows));
    }
    free(first);
    free(second);
    return error;
}

int iso_grid_alltoall(ISO_BLOCKS(int), MPI_Comm comm, const iso_grid_t *grid)
{
    const iso_arrangement_t *a = NULL;
    iso_blocks_t in = iso_blocks_of(receive, receive_count, receive_type);
    iso_blocks_t out = in;
    if (send != MPI_IN_PLACE) {
        out = iso_blocks_of(send, send_count, send_type);
    }
    if (iso_phases_rank(comm) >= 0 && receive != MPI_IN_PLACE &&
        out.bytes == in.bytes) {
        int error = iso_phases_begin(comm, grid, in.bytes, true, &a);
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
    if (a == NULL) {
        return PMPI_Alltoall(send, send_count, send_type, receive,
                             receive_count, receive_type, comm);
    }
    return iso_phases_end(comm, alltoall(a, &out, &in));
}
