/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file slow.c
 * Preloaded into programs by tests: one rank sleeps once.
 *
 * ISO_SLOW="0 pwrite 1 2.5"    rank 0, in its first pwrite, for 2.5 seconds
 * ISO_SLOW="2 Alltoall 2 1"    rank 2, behind its second PMPI_Alltoall
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void sleep_in(const char *call)
{
    static int seen;
    char wanted[32];
    int slow, at, rank;
    double seconds;
    const char *text = getenv("ISO_SLOW");
    if (!text ||
        sscanf(text, "%d %31s %d %lf", &slow, wanted, &at, &seconds) != 4 ||
        strcmp(wanted, call) != 0) {
        return;
    }
    NEXT(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
    if (rank == slow && ++seen == at) {
        usleep((useconds_t)(seconds * 1e6));
    }
}

ssize_t pwrite(int file, const void *from, size_t n, off_t at)
{
    sleep_in("pwrite");
    return NEXT(pwrite)(file, from, n, at);
}

ssize_t pwrite64(int file, const void *from, size_t n, off64_t at)
{
    sleep_in("pwrite");
    return NEXT(pwrite64)(file, from, n, at);
}

int PMPI_Alltoall(const void *from, int a, MPI_Datatype b, void *to, int c,
                  MPI_Datatype d, MPI_Comm comm)
{
    int code = NEXT(PMPI_Alltoall)(from, a, b, to, c, d, comm);
    sleep_in("Alltoall");
    return code;
}
