/* SPDX-License-Identifier: BSD-3-Clause */
#include "interposer/communicator.h"

#include <stddef.h>
#include <stdint.h>

/** The attribute with the number of nodes, as a number in place of a pointer.
 */
static int keyval = MPI_KEYVAL_INVALID;

void iso_communicator_begin(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                            &keyval, NULL);
}

void iso_communicator_end(void)
{
    if (keyval != MPI_KEYVAL_INVALID) {
        PMPI_Comm_free_keyval(&keyval);
    }
}

/** Count nodes: their first ranks are added up. */
static int count_nodes(MPI_Comm comm)
{
    MPI_Comm node = MPI_COMM_NULL;
    int rank = 0, nodes = -1;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                             &node) != MPI_SUCCESS) {
        return -1;
    }
    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_free(&node);
    int first = rank == 0;
    int code = PMPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, comm);
    return code == MPI_SUCCESS ? nodes : -1;
}

int iso_communicator_nodes(MPI_Comm comm)
{
    void *known = NULL;
    int found = 0;
    if (keyval == MPI_KEYVAL_INVALID) { /* within MPI_Finalize */
        return -1;
    }
    PMPI_Comm_get_attr(comm, keyval, &known, &found);
    if (found) {
        return (int)(intptr_t)known;
    }
    int nodes = count_nodes(comm);
    PMPI_Comm_set_attr(comm, keyval, (void *)(intptr_t)nodes);
    return nodes;
}
