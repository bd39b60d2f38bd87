/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/arrangement.h"

#include "base/sizes.h"
#include "grid/comm_cache.h"

#include <stdlib.h>

/* --- layout -------------------------------------------------------------- */

/* Which rank is where in a grid; without any communicator. */

/** Most blocks in a buffer that is exchanged at once, with displacements. */
static long long most_blocks(const iso_arrangement_t *a)
{
    long long most =
        a->even ? (a->rows > a->longest ? a->rows : a->longest) : a->size;
    for (int r = 0; r < a->rows && !a->even; r++) {
        long long last =
            0; /* what the last rank of a row takes of the others */
        for (int c = a->lengths[r] - 1; c < a->longest; c++) {
            last += a->heights[c];
        }
        last *= a->lengths[r];
        most = last > most ? last : most;
    }
    return most;
}

/**
 * Fill in the positions from the row of each rank.
 *
 * @param row_of  shape (size); rows are numbered from 0 in rank order. Becomes
 * the arrangement's.
 * @param memory  memory to be freed with the arrangement, in addition to @a
 * row_of
 * @return false if there is no memory
 */
static bool fill_layout(iso_arrangement_t *a, const int *row_of, int **memory)
{
    int size = a->size;
    a->rows = 0;
    for (int k = 0; k < size; k++) {
        a->rows = row_of[k] >= a->rows ? row_of[k] + 1 : a->rows;
    }
    /* No row is longer than size - rows + 1. */
    size_t room = 3 * (size_t)size + a->rows + 1;
    int *column_of = *memory = calloc(room, sizeof(int));
    if (column_of == NULL) {
        return false;
    }
    int *members = column_of + size, *lengths = members + size;
    int *starts = lengths + a->rows, *heights = starts + a->rows;
    for (int k = 0; k < size; k++) {
        column_of[k] = lengths[row_of[k]]++;
        heights[column_of[k]]++;
    }
    a->even = a->in_rank_order = true;
    a->longest = 0;
    for (int r = 0; r < a->rows; r++) {
        starts[r] = r > 0 ? starts[r - 1] + lengths[r - 1] : 0;
        a->longest = lengths[r] > a->longest ? lengths[r] : a->longest;
        a->even = a->even && lengths[r] == lengths[0];
    }
    for (int k = 0; k < size; k++) {
        int place = starts[row_of[k]] + column_of[k];
        members[place] = k;
        a->in_rank_order = a->in_rank_order && place == k;
    }
    a->row_of = row_of;
    a->column_of = column_of;
    a->members = members;
    a->lengths = lengths;
    a->starts = starts;
    a->heights = heights;
    a->most_blocks = most_blocks(a);
    return true;
}

/* --- the arrangement -------------------------------------------------------
 */

/** An arrangement and its memory. */
typedef struct {
    iso_cached_t entry; /**< first, for the cache */
    iso_grid_t grid;
    iso_arrangement_t arrangement;
    int *row_of;
    int *layout;
    MPI_Comm *columns;
} holder_t;

static void free_communicator(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL) {
        PMPI_Comm_free(comm);
    }
}

static void free_communicators(holder_t *holder)
{
    for (int c = 0; holder->columns && c < holder->arrangement.longest; c++) {
        free_communicator(&holder->columns[c]);
    }
    free_communicator(&holder->arrangement.row);
}

static void release(iso_cached_t *entry)
{
    holder_t *holder = (holder_t *)entry;
    free_communicators(holder);
    free(holder->columns);
    free(holder->layout);
    free(holder->row_of);
    free(holder);
}

/** Number the nodes in rank order. */
static int rows_of_nodes(MPI_Comm comm, int size, int rank, int *row_of)
{
    MPI_Comm node = MPI_COMM_NULL;
    int first = rank, rows = 0;
    int error = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank,
                                     MPI_INFO_NULL, &node);
    if (error == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
        error = PMPI_Bcast(&first, 1, MPI_INT, 0, node);
        PMPI_Comm_free(&node);
    }
    first = error == MPI_SUCCESS ? first : -1;
    /* Each rank names the first rank of its node. */
    int heard = PMPI_Allgather(&first, 1, MPI_INT, row_of, 1, MPI_INT, comm);
    for (int k = 0; k < size && heard == MPI_SUCCESS; k++) {
        if (row_of[k] < 0 || row_of[k] > k) {
            return error != MPI_SUCCESS ? error : MPI_ERR_OTHER;
        }
        row_of[k] = row_of[k] == k ? rows++ : row_of[row_of[k]];
    }
    return heard;
}

/** Make one communicator of the ranks with the same color. */
static int split(MPI_Comm comm, int color, int order, MPI_Comm *made)
{
    int error = PMPI_Comm_split(comm, color, order, made);
    if (error != MPI_SUCCESS) {
        *made = MPI_COMM_NULL;
    } else if (*made != MPI_COMM_NULL) {
        PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    }
    return error;
}

/** Create the row, the columns that every row has, then one by one those with
 * substitutes. All ranks continue when one of them has failed. */
static bool make_communicators(MPI_Comm comm, holder_t *holder)
{
    iso_arrangement_t *a = &holder->arrangement;
    int row = a->row_of[a->rank], column = a->column_of[a->rank], full = 0;
    while (full < a->longest && a->heights[full] == a->rows) {
        full++;
    }
    bool made = split(comm, row, column, &a->row) == MPI_SUCCESS;
    MPI_Comm mine = MPI_COMM_NULL;
    made = split(comm, column < full ? column : MPI_UNDEFINED, row, &mine) ==
               MPI_SUCCESS &&
           made;
    holder->columns[column] = mine;
    for (int c = full; c < a->longest; c++) {
        bool in = iso_arrangement_place(a, row, c) == column;
        made = split(comm, in ? 0 : MPI_UNDEFINED, row, &holder->columns[c]) ==
                   MPI_SUCCESS &&
               made;
    }
    a->columns = holder->columns;
    return made;
}

/** Find the positions, and allocate the columns. */
static int lay_out(MPI_Comm comm, holder_t *holder)
{
    iso_arrangement_t *a = &holder->arrangement;
    const iso_grid_t *grid = &holder->grid;
    holder->row_of = calloc(a->size, sizeof(int));
    if (holder->row_of == NULL) {
        return MPI_ERR_NO_MEM;
    }
    if (grid->kind == ISO_GRID_NODES) {
        int error = rows_of_nodes(comm, a->size, a->rank, holder->row_of);
        if (error != MPI_SUCCESS) {
            return error;
        }
    } else {
        for (int k = 0; k < a->size; k++) {
            holder->row_of[k] = k / grid->length;
        }
    }
    if (!fill_layout(a, holder->row_of, &holder->layout)) {
        return MPI_ERR_NO_MEM;
    }
    holder->columns = calloc(a->longest, sizeof(MPI_Comm));
    if (holder->columns == NULL) {
        return MPI_ERR_NO_MEM;
    }
    for (int c = 0; c < a->longest; c++) {
        holder->columns[c] = MPI_COMM_NULL;
    }
    return MPI_SUCCESS;
}

/** Whether a condition holds at all ranks. */
static bool everywhere(MPI_Comm comm, bool here)
{
    int mine = here, all = 0;
    return PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm) ==
               MPI_SUCCESS &&
           all;
}

/** Arrange the ranks; all of them, or none. */
static int arrange(MPI_Comm comm, holder_t *holder)
{
    iso_arrangement_t *a = &holder->arrangement;
    int error = lay_out(comm, holder);
    if (!everywhere(comm, error == MPI_SUCCESS)) {
        return error != MPI_SUCCESS ? error : MPI_ERR_OTHER;
    }
    if (a->rows > 1 && a->longest > 1) {
        a->complete = everywhere(comm, make_communicators(comm, holder));
    }
    if (!a->complete) {
        free_communicators(holder);
    }
    return MPI_SUCCESS;
}

/** Arrange the ranks, and cache the result with the communicator. */
static int arrange_and_keep(MPI_Comm comm, const iso_grid_t *grid,
                            const iso_arrangement_t **arrangement)
{
    char reason[ISO_ERROR_LENGTH];
    holder_t *holder = calloc(1, sizeof(*holder));
    if (holder == NULL) {
        return MPI_ERR_NO_MEM;
    }
    holder->entry.release = release;
    holder->grid = *grid;
    iso_arrangement_t *a = &holder->arrangement;
    a->row = MPI_COMM_NULL;
    PMPI_Comm_size(comm, &a->size);
    PMPI_Comm_rank(comm, &a->rank);
    int error =
        iso_grid_check(grid, a->size, reason) == 0 ? MPI_SUCCESS : MPI_ERR_ARG;
    if (error == MPI_SUCCESS) {
        error = arrange(comm, holder);
    }
    if (error == MPI_SUCCESS) {
        error = iso_comm_cache_add(comm, &holder->entry);
    }
    if (error != MPI_SUCCESS) {
        release(&holder->entry);
        return error;
    }
    *arrangement = a;
    return MPI_SUCCESS;
}

int iso_arrangement_of(MPI_Comm comm, const iso_grid_t *grid,
                       const iso_arrangement_t **arrangement)
{
    for (iso_cached_t *k = iso_comm_cache_first(comm); k != NULL; k = k->next) {
        holder_t *holder = (holder_t *)k;
        if (iso_grid_equal(&holder->grid, grid)) {
            *arrangement = &holder->arrangement;
            return MPI_SUCCESS;
        }
    }
    /* What fails meanwhile is the caller's to show. */
    MPI_Errhandler own = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(comm, &own);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int error = arrange_and_keep(comm, grid, arrangement);
    PMPI_Comm_set_errhandler(comm, own);
    PMPI_Errhandler_free(&own);
    return error;
}
