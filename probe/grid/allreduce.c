/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/collectives.h"
#include "grid/reduction.h"

/** At a rank that substitutes in columns: send the result of its row to each.
 */
static int in_many_columns(const iso_arrangement_t *a, const void *send,
                           void *receive, int count, MPI_Datatype type,
                           MPI_Op operation)
{
    iso_elements_t result = iso_elements_alloc(count, type);
    if (result.memory == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = PMPI_Allreduce(send == MPI_IN_PLACE ? receive : send,
                               result.buffer, count, type, operation, a->row);
    int end = iso_arrangement_columns_end(a);
    for (int c = a->column_of[a->rank]; c < end; c++) {
        error = iso_phases_first(error, PMPI_Allreduce(result.buffer, receive,
                                                       count, type, operation,
                                                       a->columns[c]));
    }
    iso_elements_free(&result);
    return error;
}

int iso_grid_allreduce(ISO_REDUCTION(int), MPI_Comm comm,
                       const iso_grid_t *grid)
{
    const iso_arrangement_t *a = NULL;
    int rank = iso_phases_rank(comm), error = MPI_SUCCESS;
    if (rank >= 0 && receive != MPI_IN_PLACE) {
        error = iso_reduction_begin(comm, grid, receive, count, type, operation,
                                    false, &a);
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
    if (a == NULL) {
        return PMPI_Allreduce(send, receive, count, type, operation, comm);
    }
    int column = a->column_of[rank];
    if (iso_arrangement_columns_end(a) > column + 1) {
        error = in_many_columns(a, send, receive, count, type, operation);
    } else {
        error = PMPI_Allreduce(send, receive, count, type, operation, a->row);
        error = iso_phases_first(error, PMPI_Allreduce(MPI_IN_PLACE, receive,
                                                       count, type, operation,
                                                       a->columns[column]));
    }
    return iso_phases_end(comm, error);
}
