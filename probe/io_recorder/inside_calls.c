/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file inside_calls.c
 * What ROMIO calls within a collective access. It calls PMPI_ functions, which
 * go through the dynamic linker, and do so in MPICH's one library, too. Outside
 * an access nothing is noted. OMPIO calls none of these. Its waits are in
 * completions.c.
 */
#include "io_recorder/intercept.h"
#include "io_recorder/timing.h"

/** Define a function with parameters of these types. */
#define INSIDE(BEFORE, AFTER, Name, ...)                                       \
    ISO_INTERCEPT(                                                             \
        Name, (ISO_PARAMETERS(__VA_ARGS__)), (ISO_ARGUMENTS(__VA_ARGS__)),     \
        double begin = iso_timing ? PMPI_Wtime() : 0;                          \
        if (iso_timing) { BEFORE; }, if (iso_timing) { AFTER; })

#define BEGUN  iso_timing_message(begin)
#define WAITED iso_timing_waited(PMPI_Wtime())

#define SYNC(WHAT, ...)                                                        \
    INSIDE(, iso_timing_sync(WHAT, begin, PMPI_Wtime()), __VA_ARGS__)
#define MESSAGE(...) INSIDE(BEGUN, , __VA_ARGS__)
/** All of an exchange in one call. */
#define EXCHANGE(...) INSIDE(BEGUN, WAITED, __VA_ARGS__)

#define SENT(COUNT)     const void *, COUNT, MPI_Datatype
#define RECEIVED(COUNT) void *, COUNT, MPI_Datatype

#define WITH_COUNTS(COUNT, _c)                                                 \
    SYNC(ISO_ALLGATHER, PMPI_Allgather##_c, SENT(COUNT), RECEIVED(COUNT),      \
         MPI_Comm)                                                             \
    SYNC(ISO_ALLTOALL, PMPI_Alltoall##_c, SENT(COUNT), RECEIVED(COUNT),        \
         MPI_Comm)                                                             \
    SYNC(ISO_ALLREDUCE, PMPI_Allreduce##_c, const void *, void *, COUNT,       \
         MPI_Datatype, MPI_Op, MPI_Comm)                                       \
    MESSAGE(PMPI_Isend##_c, SENT(COUNT), int, int, MPI_Comm, MPI_Request *)    \
    MESSAGE(PMPI_Issend##_c, SENT(COUNT), int, int, MPI_Comm, MPI_Request *)   \
    MESSAGE(PMPI_Irecv##_c, RECEIVED(COUNT), int, int, MPI_Comm, MPI_Request *)

WITH_COUNTS(int, )
#if MPI_VERSION >= 4
WITH_COUNTS(MPI_Count, _c)
#endif

EXCHANGE(PMPI_Alltoallv, const void *, const int *, const int *, MPI_Datatype,
         void *, const int *, const int *, MPI_Datatype, MPI_Comm)
EXCHANGE(PMPI_Alltoallw, const void *, const int *, const int *,
         const MPI_Datatype *, void *, const int *, const int *,
         const MPI_Datatype *, MPI_Comm)
