/* SPDX-License-Identifier: BSD-3-Clause */
/* For SimGrid: messages around a ring and an allreduce, 4e6 operations shared
 * by the ranks in each of 40 steps. */
#include <mpi.h>
#include <smpi/smpi.h>

int main(int count, char **words)
{
    int rank, ranks;
    static char sent[4096], received[4096];
    double one = 1, sum;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 0; k < 40; k++) {
        smpi_execute_flops(4e6 / ranks);
        MPI_Sendrecv(sent, sizeof(sent), MPI_BYTE, (rank + 1) % ranks, 0,
                     received, sizeof(received), MPI_BYTE,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
