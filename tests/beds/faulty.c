/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with one fault on its last rank, which sanitizers have to find.
 *
 *     faulty leak|beyond|overflow|none
 */
#include <mpi.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *fault = argc > 1 && rank == ranks - 1 ? argv[1] : "none";
    char *volatile memory = malloc(24);
    memset(memory, 0, 24);
    kept = strcmp(fault, "leak") == 0 ? malloc(1234) : NULL;
    kept = NULL;
    if (strcmp(fault, "beyond") == 0) {
        memory[24] = 1;
    }
    volatile int large = INT_MAX - 1;
    large += strcmp(fault, "overflow") == 0 ? 2 : 0;
    kept = memory;
    free(kept);
    MPI_Finalize();
    return 0;
}
