/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/rooted.h"

#include "grid/phases.h"

#include <stddef.h>

int iso_rooted_begin(iso_given_t own, iso_given_t all, int root, MPI_Comm comm,
                     const iso_grid_t *grid, iso_rooted_t *found)
{
    int rank = iso_phases_rank(comm);
    *found = (iso_rooted_t){.in_place = own.buffer == MPI_IN_PLACE,
                            .own = {.bytes = -1},
                            .all = {.bytes = -1}};
    if (!found->in_place) {
        found->own = iso_blocks_of(own.buffer, own.count, own.type);
        found->all = found->own;
    }
    if (rank == root) {
        found->all = iso_blocks_of(all.buffer, all.count, all.type);
    }
    bool alike = (found->in_place && rank == root) ||
                 found->own.bytes == found->all.bytes;
    if (rank < 0 || !iso_phases_root(comm, root) || !alike ||
        (rank == root && all.buffer == MPI_IN_PLACE)) {
        return MPI_SUCCESS;
    }
    const iso_arrangement_t *a = NULL;
    int error = iso_phases_begin(comm, grid, found->all.bytes, true, &a);
    found->arrangement = a;
    if (error != MPI_SUCCESS || a == NULL) {
        return error;
    }
    found->leader =
        iso_arrangement_place(a, a->row_of[rank], a->column_of[root]);
    found->part = rank == root                          ? ISO_PART_ROOT
                  : a->column_of[rank] == found->leader ? ISO_PART_LEADER
                                                        : ISO_PART_MEMBER;
    return MPI_SUCCESS;
}
