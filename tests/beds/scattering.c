/* SPDX-License-Identifier: BSD-3-Clause */
/** A program that does little but scatter 4 KiB to each rank. */
#include <mpi.h>

enum { CALLS = 400, BLOCK = 4096, MOST = 8 };

static char all[MOST * BLOCK], own[BLOCK];

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < CALLS; i++) {
        MPI_Scatter(all, BLOCK, MPI_CHAR, own, BLOCK, MPI_CHAR, 0,
                    MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
