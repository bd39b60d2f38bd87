/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file completions.c
 * Calls that wait for requests and test them: of the program, for its
 * nonblocking accesses, and of ROMIO within an access.
 */
#include "io_recorder/intercept.h"
#include "io_recorder/requests.h"

#define COMPLETES(Name, PARAMETERS, ARGUMENTS, COUNT, REQUESTS)                \
    ISO_INTERCEPT_BOTH(Name, PARAMETERS, ARGUMENTS,                            \
                       iso_completion_t completion =                           \
                           iso_completion_begin(COUNT, REQUESTS),              \
                       iso_completion_end(&completion, REQUESTS))

COMPLETES(Wait, (MPI_Request * r, MPI_Status *s), (r, s), 1, r)
COMPLETES(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s), n, r)
COMPLETES(Waitany, (int n, MPI_Request r[], int *k, MPI_Status *s),
          (n, r, k, s), n, r)
COMPLETES(Waitsome, (int n, MPI_Request r[], int *m, int k[], MPI_Status s[]),
          (n, r, m, k, s), n, r)
COMPLETES(Test, (MPI_Request * r, int *done, MPI_Status *s), (r, done, s), 1, r)
COMPLETES(Testall, (int n, MPI_Request r[], int *done, MPI_Status s[]),
          (n, r, done, s), n, r)
COMPLETES(Testany, (int n, MPI_Request r[], int *k, int *done, MPI_Status *s),
          (n, r, k, done, s), n, r)
COMPLETES(Testsome, (int n, MPI_Request r[], int *m, int k[], MPI_Status s[]),
          (n, r, m, k, s), n, r)
