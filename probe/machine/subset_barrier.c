/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/subset_barrier.h"

#include "base/check.h"

enum { TAG_MEET = 1301 };

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
