/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file completions.c
 * Calls that wait for requests and test them: of the program, for its
 * nonblocking accesses, and of ROMIO within an access.
 */
#include "io_recorder/intercept.h"
#include "io_recorder/requests.h"

#define COMPLETES(Full, PARAMETERS, ARGUMENTS, COUNT, REQUESTS)                \
    ISO_WRAPPER int Full PARAMETERS                                            \
    {                                                                          \
        ISO_NEXT(Full)                                                         \
        iso_completion_t completion = iso_completion_begin(COUNT, REQUESTS);   \
        int code = next ARGUMENTS;                                             \
        iso_completion_end(&completion, REQUESTS);                             \
        return code;                                                           \
    }
#define BOTH(Name, ...)                                                        \
    COMPLETES(MPI_##Name, __VA_ARGS__)                                         \
    COMPLETES(PMPI_##Name, __VA_ARGS__)

BOTH(Wait, (MPI_Request * r, MPI_Status *s), (r, s), 1, r)
BOTH(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s), n, r)
BOTH(Waitany, (int n, MPI_Request r[], int *k, MPI_Status *s), (n, r, k, s), n,
     r)
BOTH(Waitsome, (int n, MPI_Request r[], int *m, int k[], MPI_Status s[]),
     (n, r, m, k, s), n, r)
BOTH(Test, (MPI_Request * r, int *done, MPI_Status *s), (r, done, s), 1, r)
BOTH(Testall, (int n, MPI_Request r[], int *done, MPI_Status s[]),
     (n, r, done, s), n, r)
BOTH(Testany, (int n, MPI_Request r[], int *k, int *done, MPI_Status *s),
     (n, r, k, done, s), n, r)
BOTH(Testsome, (int n, MPI_Request r[], int *m, int k[], MPI_Status s[]),
     (n, r, m, k, s), n, r)
