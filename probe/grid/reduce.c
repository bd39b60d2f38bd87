/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/collectives.h"
#include "grid/reduction.h"

/**
 * At the leader of a row: pass on the row's result. Not in place, with which
 * MPICH 4.0 fails at roots other than 0.
 */
static int lead(const iso_arrangement_t *a, const void *send, void *receive,
                int count, MPI_Datatype type, MPI_Op operation, int root)
{
    iso_elements_t result = iso_elements_alloc(count, type);
    if (result.memory == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = PMPI_Reduce(send, result.buffer, count, type, operation,
                            a->column_of[a->rank], a->row);
    error = iso_phases_first(
        error, PMPI_Reduce(result.buffer, receive, count, type, operation,
                           a->row_of[root], a->columns[a->column_of[root]]));
    iso_elements_free(&result);
    return error;
}

int iso_grid_reduce(ISO_REDUCTION(int), int root, MPI_Comm comm,
                    const iso_grid_t *grid)
{
    const iso_arrangement_t *a = NULL;
    int rank = iso_phases_rank(comm), error = MPI_SUCCESS;
    const void *input = rank == root && send == MPI_IN_PLACE ? receive : send;
    if (rank >= 0 && iso_phases_root(comm, root) && input != MPI_IN_PLACE &&
        (rank != root || receive != MPI_IN_PLACE)) {
        error = iso_reduction_begin(comm, grid, input, count, type, operation,
                                    false, &a);
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
    if (a == NULL) {
        return PMPI_Reduce(send, receive, count, type, operation, root, comm);
    }
    int leader = iso_arrangement_place(a, a->row_of[rank], a->column_of[root]);
    if (a->column_of[rank] == leader) {
        error = lead(a, input, receive, count, type, operation, root);
    } else {
        error =
            PMPI_Reduce(input, NULL, count, type, operation, leader, a->row);
    }
    return iso_phases_end(comm, error);
}
