/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file inside_calls.c
 * What ROMIO calls within a collective access. It calls PMPI_ functions, which
 * go through the dynamic linker, and do so in MPICH's one library, too. Outside
 * an access nothing is noted. OMPIO calls none of these.
 */
#include "io_recorder/takes.h"
#include "io_recorder/timing.h"

#define SYNC(WHAT, Name, PARAMETERS, ARGUMENTS)                                \
    ISO_TAKES_OVER int Name PARAMETERS                                         \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        double begin = iso_timing ? PMPI_Wtime() : 0;                          \
        int code = next ARGUMENTS;                                             \
        if (iso_timing) {                                                      \
            iso_timing_sync(WHAT, begin, PMPI_Wtime());                        \
        }                                                                      \
        return code;                                                           \
    }

#define MESSAGE(Name, PARAMETERS, ARGUMENTS)                                   \
    ISO_TAKES_OVER int Name PARAMETERS                                         \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        if (iso_timing) {                                                      \
            iso_timing_message(PMPI_Wtime());                                  \
        }                                                                      \
        return next ARGUMENTS;                                                 \
    }

#define WAIT(Name, PARAMETERS, ARGUMENTS)                                      \
    ISO_TAKES_OVER int Name PARAMETERS                                         \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        int code = next ARGUMENTS;                                             \
        if (iso_timing) {                                                      \
            iso_timing_waited(PMPI_Wtime());                                   \
        }                                                                      \
        return code;                                                           \
    }

/** All of an exchange in one call. */
#define EXCHANGE(Name, PARAMETERS, ARGUMENTS)                                  \
    ISO_TAKES_OVER int Name PARAMETERS                                         \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        if (iso_timing) {                                                      \
            iso_timing_message(PMPI_Wtime());                                  \
        }                                                                      \
        int code = next ARGUMENTS;                                             \
        if (iso_timing) {                                                      \
            iso_timing_waited(PMPI_Wtime());                                   \
        }                                                                      \
        return code;                                                           \
    }

#define SENT(COUNT)     const void *from, COUNT sent, MPI_Datatype of
#define RECEIVED(COUNT) void *to, COUNT received, MPI_Datatype as

SYNC(ISO_ALLGATHER, PMPI_Allgather, (SENT(int), RECEIVED(int), MPI_Comm comm),
     (from, sent, of, to, received, as, comm))
SYNC(ISO_ALLTOALL, PMPI_Alltoall, (SENT(int), RECEIVED(int), MPI_Comm comm),
     (from, sent, of, to, received, as, comm))
SYNC(ISO_ALLREDUCE, PMPI_Allreduce,
     (const void *from, void *to, int count, MPI_Datatype type,
      MPI_Op operation, MPI_Comm comm),
     (from, to, count, type, operation, comm))

#define SEND_PARAMETERS(COUNT)                                                 \
    (SENT(COUNT), int rank, int tag, MPI_Comm comm, MPI_Request *request)
#define SEND_ARGUMENTS (from, sent, of, rank, tag, comm, request)
#define RECEIVE_PARAMETERS(COUNT)                                              \
    (RECEIVED(COUNT), int rank, int tag, MPI_Comm comm, MPI_Request *request)
#define RECEIVE_ARGUMENTS (to, received, as, rank, tag, comm, request)

MESSAGE(PMPI_Isend, SEND_PARAMETERS(int), SEND_ARGUMENTS)
MESSAGE(PMPI_Issend, SEND_PARAMETERS(int), SEND_ARGUMENTS)
MESSAGE(PMPI_Irecv, RECEIVE_PARAMETERS(int), RECEIVE_ARGUMENTS)

WAIT(PMPI_Wait, (MPI_Request * request, MPI_Status *status), (request, status))
WAIT(PMPI_Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
     (count, requests, statuses))
WAIT(PMPI_Waitany,
     (int count, MPI_Request requests[], int *index, MPI_Status *status),
     (count, requests, index, status))
WAIT(PMPI_Waitsome,
     (int count, MPI_Request requests[], int *done, int indices[],
      MPI_Status statuses[]),
     (count, requests, done, indices, statuses))

EXCHANGE(PMPI_Alltoallv,
         (const void *from, const int sent[], const int sent_at[],
          MPI_Datatype of, void *to, const int received[],
          const int received_at[], MPI_Datatype as, MPI_Comm comm),
         (from, sent, sent_at, of, to, received, received_at, as, comm))
EXCHANGE(PMPI_Alltoallw,
         (const void *from, const int sent[], const int sent_at[],
          const MPI_Datatype of[], void *to, const int received[],
          const int received_at[], const MPI_Datatype as[], MPI_Comm comm),
         (from, sent, sent_at, of, to, received, received_at, as, comm))

#if MPI_VERSION >= 4

SYNC(ISO_ALLGATHER, PMPI_Allgather_c,
     (SENT(MPI_Count), RECEIVED(MPI_Count), MPI_Comm comm),
     (from, sent, of, to, received, as, comm))
SYNC(ISO_ALLTOALL, PMPI_Alltoall_c,
     (SENT(MPI_Count), RECEIVED(MPI_Count), MPI_Comm comm),
     (from, sent, of, to, received, as, comm))
SYNC(ISO_ALLREDUCE, PMPI_Allreduce_c,
     (const void *from, void *to, MPI_Count count, MPI_Datatype type,
      MPI_Op operation, MPI_Comm comm),
     (from, to, count, type, operation, comm))

MESSAGE(PMPI_Isend_c, SEND_PARAMETERS(MPI_Count), SEND_ARGUMENTS)
MESSAGE(PMPI_Issend_c, SEND_PARAMETERS(MPI_Count), SEND_ARGUMENTS)
MESSAGE(PMPI_Irecv_c, RECEIVE_PARAMETERS(MPI_Count), RECEIVE_ARGUMENTS)

#endif
