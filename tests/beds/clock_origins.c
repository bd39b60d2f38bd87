/* MPI_Wtime of each rank counts from another moment, 100 s apart, as it may
   (MPI 4.1, 9.6). Preloaded. */
#include <stdlib.h>
#include <time.h>

double PMPI_Wtime(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    struct timespec now;
    rank = rank ? rank : getenv("PMI_RANK");
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - 100 * atoi(rank);
}
