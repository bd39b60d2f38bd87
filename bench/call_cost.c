/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file call_cost.c
 * What a call costs that the table leaves to the library, on MPI_COMM_SELF,
 * where the library itself does next to nothing.
 *
 *     call_cost CALLS BYTES
 *
 * Prints the shortest of 30 times of CALLS calls of MPI_Bcast and PMPI_Bcast
 * made in turns, in seconds a call.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int bcast_t(void *, int, MPI_Datatype, int, MPI_Comm);

static double seconds(bcast_t *bcast, char *buffer, int bytes, int calls)
{
    double begin = MPI_Wtime();
    for (int k = 0; k < calls; k++) {
        bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_SELF);
    }
    return (MPI_Wtime() - begin) / calls;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int calls = argc > 2 ? atoi(argv[1]) : 0, bytes = calls ? atoi(argv[2]) : 0;
    char *buffer = calloc((size_t)bytes + 1, 1);
    double outer = 1, inner = 1;
    for (int k = 0; k < 30 && calls; k++) {
        double a = seconds(MPI_Bcast, buffer, bytes, calls);
        double b = seconds(PMPI_Bcast, buffer, bytes, calls);
        outer = a < outer ? a : outer;
        inner = b < inner ? b : inner;
    }
    printf("%.3e %.3e\n", outer, inner);
    free(buffer);
    MPI_Finalize();
    return 0;
}
