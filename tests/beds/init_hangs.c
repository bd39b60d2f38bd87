/* SPDX-License-Identifier: BSD-3-Clause */
/** One rank, number ISO_HANGS, never comes out of MPI_Init; loaded before MPI.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static int own_rank(void)
{
    const char *text = getenv("PMI_RANK");
    text = text ? text : getenv("OMPI_COMM_WORLD_RANK");
    return text ? atoi(text) : -1;
}

int MPI_Init(int *argc, char ***argv)
{
    const char *hangs = getenv("ISO_HANGS");
    while (hangs && own_rank() == atoi(hangs)) {
        pause();
    }
    return PMPI_Init(argc, argv);
}
