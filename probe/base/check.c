/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "base/check.h"

#include <time.h>

/** Often all that is wrong is that another rank was killed: that is said by its
 *  watcher (machine/watch.h), which has to have the time to. And a launcher
 *  that is told to abort may not read what was written just before. */
static const struct timespec others_first = {.tv_sec = 0, .tv_nsec = 300000000};

void iso_end_all(int code)
{
    fflush(stderr);
    nanosleep(&others_first, NULL);
    MPI_Abort(MPI_COMM_WORLD, code);
    abort();
}

static void fail(MPI_Comm *comm, int *error, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    (void)comm;
    MPI_Error_string(*error, text, &length);
    fprintf(stderr, "isochrone-probe: %s\n", text);
    iso_end_all(ISO_EXIT_FAILED);
}

void iso_check_begin(void)
{
    MPI_Errhandler handler;
    MPI_CHECK(MPI_Comm_create_errhandler(fail, &handler));
    MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    MPI_CHECK(MPI_Errhandler_free(&handler));
}
