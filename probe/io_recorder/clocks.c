/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/clocks.h"

#include <math.h>
#include <stddef.h>
#include <time.h>

/* Exchanges of each comparison; that with the shortest round trip counts
 * (F. Cristian, Probabilistic clock synchronization, Distributed Computing 3,
 * 1989). Eight: the median round trip of one is left behind with 255 of 256. */
enum { EXCHANGES = 8, TAG = 1 };

static void answer(MPI_Comm comm, int rank)
{
    for (int k = 0; k < EXCHANGES; k++) {
        PMPI_Recv(NULL, 0, MPI_DOUBLE, rank, TAG, comm, MPI_STATUS_IGNORE);
        double now = PMPI_Wtime();
        PMPI_Send(&now, 1, MPI_DOUBLE, rank, TAG, comm);
    }
}

static double ask(MPI_Comm comm)
{
    double shortest = INFINITY, offset = 0;
    for (int k = 0; k < EXCHANGES; k++) {
        double theirs, before = PMPI_Wtime();
        PMPI_Send(NULL, 0, MPI_DOUBLE, 0, TAG, comm);
        PMPI_Recv(&theirs, 1, MPI_DOUBLE, 0, TAG, comm, MPI_STATUS_IGNORE);
        double after = PMPI_Wtime();
        if (after - before < shortest) {
            shortest = after - before;
            offset = theirs - (before + after) / 2;
        }
    }
    return offset;
}

/** MPI_Wtime minus the clock of the host, which all its ranks read; in a
 *  simulation all ranks have one MPI_Wtime. */
static double ahead_of_host(void)
{
    double shortest = INFINITY, ahead = 0;
#ifndef SMPI_H
    for (int k = 0; k < EXCHANGES; k++) {
        struct timespec host;
        double before = PMPI_Wtime();
        clock_gettime(CLOCK_MONOTONIC, &host);
        double after = PMPI_Wtime();
        if (after - before < shortest) {
            shortest = after - before;
            ahead = (before + after) / 2 -
                    ((double)host.tv_sec + (double)host.tv_nsec * 1e-9);
        }
    }
#endif
    return ahead;
}

iso_offset_at_t iso_clocks_compare(void)
{
    MPI_Comm node, leaders;
    int rank, rank_on_node, place, nodes;
    double offset = 0, ahead = ahead_of_host();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
                         MPI_INFO_NULL, &node);
    PMPI_Comm_rank(node, &rank_on_node);
    PMPI_Comm_split(MPI_COMM_WORLD, rank_on_node ? MPI_UNDEFINED : 0, rank,
                    &leaders);
    if (leaders != MPI_COMM_NULL) {
        PMPI_Comm_rank(leaders, &place);
        PMPI_Comm_size(leaders, &nodes);
        for (int k = 1; place == 0 && k < nodes; k++) {
            answer(leaders, k);
        }
        offset = place == 0 ? 0 : ask(leaders);
        offset += ahead;
        PMPI_Comm_free(&leaders);
    }
    PMPI_Bcast(&offset, 1, MPI_DOUBLE, 0, node);
    PMPI_Comm_free(&node);
    return (iso_offset_at_t){PMPI_Wtime(), offset - ahead};
}

void iso_clocks_translate(const iso_clocks_t *clocks, double *time)
{
    const iso_offset_at_t *first = &clocks->first, *last = &clocks->last;
    double length = last->own - first->own;
    double part = length > 0 ? (*time - first->own) / length : 0;
    if (*time != 0) {
        *time += first->seconds + part * (last->seconds - first->seconds);
    }
}
