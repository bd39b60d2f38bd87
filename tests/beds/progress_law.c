/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file progress_law.c
 * Preloaded into the simulated probe by tests: nonblocking allreduces whose
 * progress follows a known law.
 *
 * An operation takes ISO_LAW_SECONDS. Outside of MPI it progresses until the
 * part ISO_LAW_BACKGROUND of that is done, and each call of MPI_Test does the
 * part ISO_LAW_TEST; MPI_Wait does the rest. A computation that takes as long
 * as the operation thus hides the two parts.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { RANKS = 64 };

static struct {
    MPI_Request request;
    double posted, tested;
} of_rank[RANKS];

static double setting(const char *name)
{
    const char *text = getenv(name);
    return text ? atof(text) : 0;
}

static int world_rank(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int MPI_Iallreduce(const void *send, void *receive, int n, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    int rank = world_rank();
    int error = PMPI_Iallreduce(send, receive, n, type, op, comm, request);
    of_rank[rank].request = *request;
    of_rank[rank].posted = PMPI_Wtime();
    of_rank[rank].tested = 0;
    return error;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int rank = world_rank();
    if (*request != of_rank[rank].request || *request == MPI_REQUEST_NULL) {
        return PMPI_Test(request, flag, status);
    }
    of_rank[rank].tested += setting("ISO_LAW_TEST");
    *flag = 0;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int rank = world_rank();
    if (*request == of_rank[rank].request && *request != MPI_REQUEST_NULL) {
        double seconds = setting("ISO_LAW_SECONDS");
        double most = setting("ISO_LAW_BACKGROUND") * seconds;
        double elapsed = PMPI_Wtime() - of_rank[rank].posted;
        double left = seconds * (1 - of_rank[rank].tested) -
                      (elapsed < most ? elapsed : most);
        of_rank[rank].request = MPI_REQUEST_NULL;
        if (left > 0) {
            usleep((useconds_t)(left * 1e6 + 0.5));
        }
    }
    return PMPI_Wait(request, status);
}
