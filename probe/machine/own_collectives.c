/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/own_collectives.h"

#include "base/check.h"

/* Beyond the tags of the phases of applications, whose communicators it is
 * used on, too. */
enum { TAG_PLAIN = 9001, TAG_MEET = 1301 };

static void place_in(MPI_Comm comm, int *rank, int *size)
{
    MPI_CHECK(MPI_Comm_rank(comm, rank));
    MPI_CHECK(MPI_Comm_size(comm, size));
}

/** The lowest bit of a rank leads to its parent; rank 0 has none. */
static int lowest_bit(int rank, int size)
{
    int bit = 1;
    while (bit < size && (rank & bit) == 0) {
        bit *= 2;
    }
    return bit;
}

void iso_plain_bcast(MPI_Comm comm, void *values, int count, MPI_Datatype type)
{
    int rank, size;
    place_in(comm, &rank, &size);
    int bit = lowest_bit(rank, size);
    if (rank != 0) {
        MPI_CHECK(MPI_Recv(values, count, type, rank - bit, TAG_PLAIN, comm,
                           MPI_STATUS_IGNORE));
    }
    while (bit > 1) {
        bit /= 2;
        if (bit < size - rank) {
            MPI_CHECK(
                MPI_Send(values, count, type, rank + bit, TAG_PLAIN, comm));
        }
    }
}

void iso_plain_gather(MPI_Comm comm, const void *mine, int bytes, void *all)
{
    int rank, size;
    place_in(comm, &rank, &size);
    if (rank != 0) {
        MPI_CHECK(MPI_Send(mine, bytes, MPI_BYTE, 0, TAG_PLAIN, comm));
        return;
    }
    memcpy(all, mine, bytes);
    for (int r = 1; r < size; r++) {
        MPI_CHECK(MPI_Recv((char *)all + (size_t)r * (size_t)bytes, bytes,
                           MPI_BYTE, r, TAG_PLAIN, comm, MPI_STATUS_IGNORE));
    }
}

void iso_plain_allgather(MPI_Comm comm, const void *mine, int bytes, void *all)
{
    int rank, size;
    place_in(comm, &rank, &size);
    iso_plain_gather(comm, mine, bytes, all);
    iso_plain_bcast(comm, all, size * bytes, MPI_BYTE);
}

void iso_plain_reduce(MPI_Comm comm, void *values, int count, MPI_Datatype type,
                      MPI_Op operation)
{
    int rank, size, bytes;
    place_in(comm, &rank, &size);
    MPI_CHECK(MPI_Type_size(type, &bytes));
    void *theirs = iso_calloc(count, bytes);
    int own = lowest_bit(rank, size);
    for (int bit = 1; bit < own && bit < size - rank; bit *= 2) {
        MPI_CHECK(MPI_Recv(theirs, count, type, rank + bit, TAG_PLAIN, comm,
                           MPI_STATUS_IGNORE));
        MPI_CHECK(MPI_Reduce_local(theirs, values, count, type, operation));
    }
    if (rank != 0) {
        MPI_CHECK(MPI_Send(values, count, type, rank - own, TAG_PLAIN, comm));
    }
    free(theirs);
}

void iso_plain_allreduce(MPI_Comm comm, void *values, int count,
                         MPI_Datatype type, MPI_Op operation)
{
    iso_plain_reduce(comm, values, count, type, operation);
    iso_plain_bcast(comm, values, count, type);
}

void iso_subset_barrier(MPI_Comm comm, const int *ranks, int count, int place)
{
    for (int step = 1; step < count; step *= 2) {
        int to = (place + step) % count;
        int from = (place + count - step) % count;
        MPI_CHECK(MPI_Sendrecv(NULL, 0, MPI_BYTE, ranks ? ranks[to] : to,
                               TAG_MEET, NULL, 0, MPI_BYTE,
                               ranks ? ranks[from] : from, TAG_MEET, comm,
                               MPI_STATUS_IGNORE));
        if (step > count / 2) {
            break; /* twice this may be more than an int holds */
        }
    }
}
