/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file calls.c
 * The intercepted calls of C programs, and of Fortran programs on MPICH, whose
 * Fortran library calls these names.
 */
#include "grid/collectives.h"
#include "interposer/tuning.h"
#include "preload/wrapper.h"

#include <limits.h>

/* --- operations ----------------------------------------------------------- */

/* Names of the parameters, whose counts are of the type COUNT. */
#define TWO_BLOCKS_NAMES                                                       \
    send, send_count, send_type, receive, receive_count, receive_type
#define REDUCED_NAMES send, receive, count, type, operation

/* Select by the block of the root or of the other ranks. */
#define ROOTED(OPERATION, root_side, other_side)                               \
    iso_tuning_rooted(OPERATION, root_side##_count, root_side##_type,          \
                      other_side##_count, other_side##_type, root, comm)

/* Whether counts are those of blocks below 2 GiB. Those that MPI does not look
 * at may be anything, and decide nothing. */
#define FITS              fits(count)
#define BOTH_FIT(prepare) (prepare, fits(send_count) && fits(receive_count))
#define ALL_FIT BOTH_FIT(send_count = send == MPI_IN_PLACE ? 0 : send_count)
#define ROOTED_FIT(root_side, other_side)                                      \
    BOTH_FIT(forget(&root_side##_count, &other_side##_count,                   \
                    other_side == MPI_IN_PLACE, root, comm))

/** X(name, name on a grid, parameters, choice, whether counts fit, names) */
#define OPERATIONS(X)                                                          \
    X(Bcast, bcast,                                                            \
      (void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), \
      iso_tuning_choice(ISO_BCAST, count, type, comm), FITS, buffer, count,    \
      type, root, comm)                                                        \
    X(Gather, gather, (ISO_BLOCKS(COUNT), int root, MPI_Comm comm),            \
      ROOTED(ISO_GATHER, receive, send), ROOTED_FIT(receive, send),            \
      TWO_BLOCKS_NAMES, root, comm)                                            \
    X(Scatter, scatter, (ISO_BLOCKS(COUNT), int root, MPI_Comm comm),          \
      ROOTED(ISO_SCATTER, send, receive), ROOTED_FIT(send, receive),           \
      TWO_BLOCKS_NAMES, root, comm)                                            \
    X(Reduce, reduce, (ISO_REDUCTION(COUNT), int root, MPI_Comm comm),         \
      iso_tuning_choice(ISO_REDUCE, count, type, comm), FITS, REDUCED_NAMES,   \
      root, comm)                                                              \
    X(Allreduce, allreduce, (ISO_REDUCTION(COUNT), MPI_Comm comm),             \
      iso_tuning_choice(ISO_ALLREDUCE, count, type, comm), FITS,               \
      REDUCED_NAMES, comm)                                                     \
    X(Allgather, allgather, (ISO_BLOCKS(COUNT), MPI_Comm comm),                \
      iso_tuning_choice(ISO_ALLGATHER, receive_count, receive_type, comm),     \
      ALL_FIT, TWO_BLOCKS_NAMES, comm)                                         \
    X(Alltoall, alltoall, (ISO_BLOCKS(COUNT), MPI_Comm comm),                  \
      iso_tuning_choice(ISO_ALLTOALL, receive_count, receive_type, comm),      \
      ALL_FIT, TWO_BLOCKS_NAMES, comm)                                         \
    X(Reduce_scatter_block, reduce_scatter_block,                              \
      (ISO_REDUCTION(COUNT), MPI_Comm comm),                                   \
      iso_tuning_choice(ISO_REDUCE_SCATTER_BLOCK, count, type, comm), FITS,    \
      REDUCED_NAMES, comm)

#define TAKE_OVER(Name, name, PARAMETERS, CHOICE, FIT, ...)                    \
    ISO_WRAPPER int MPI_##Name PARAMETERS                                      \
    {                                                                          \
        const iso_grid_t *grid = CHOICE;                                       \
        return grid ? iso_grid_##name(__VA_ARGS__, grid)                       \
                    : PMPI_##Name(__VA_ARGS__);                                \
    }

#define COUNT int
OPERATIONS(TAKE_OVER)
#undef COUNT

/* --- counts of MPI 4, which mpi4py makes ---------------------------------- */

#if MPI_VERSION >= 4

static bool fits(MPI_Count count)
{
    return count >= 0 && count <= INT_MAX;
}

/** Set the count to 0 that does not count at this rank, of the one for the
 *  block at the root and the one for the block elsewhere. */
static void forget(MPI_Count *at_root, MPI_Count *elsewhere, bool in_place,
                   int root, MPI_Comm comm)
{
    int rank = 0, inter = 0;
    if (fits(*at_root) && fits(*elsewhere)) {
        return;
    }
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &rank);
    if (!inter && rank != root) {
        *at_root = 0;
    } else if (!inter && in_place) {
        *elsewhere = 0;
    }
}

#define TAKE_OVER_LARGE(Name, name, PARAMETERS, CHOICE, FIT, ...)              \
    ISO_WRAPPER int MPI_##Name##_c PARAMETERS                                  \
    {                                                                          \
        return FIT ? MPI_##Name(__VA_ARGS__) : PMPI_##Name##_c(__VA_ARGS__);   \
    }

#define COUNT MPI_Count
OPERATIONS(TAKE_OVER_LARGE)

#endif
