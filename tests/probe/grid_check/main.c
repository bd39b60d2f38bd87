/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file main.c
 * Proof of the grid collectives:
 *
 *     grid_check cases SEED FIRST COUNT   random cases against the library
 *     grid_check complaints               wrong arguments, and no memory
 *     grid_check lives COUNT              communicators made and freed
 *     grid_check threads COUNT            two threads, each on its own
 *
 * Ends with 1 if something is wrong.
 */
#include "cases.h"
#include "complaints.h"
#include "counted.h"
#include "elements.h"
#include "lives.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char *argv[])
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "cases") == 0 && argc == 5) {
        return cases_run((uint64_t)atoll(argv[2]), atoi(argv[3]),
                         atoi(argv[4]));
    }
    if (strcmp(what, "complaints") == 0) {
        return complaints_run();
    }
    if (strcmp(what, "lives") == 0 && argc == 3) {
        return lives_run(atoi(argv[2]));
    }
    if (strcmp(what, "threads") == 0 && argc == 3) {
        return threads_run(atoi(argv[2]));
    }
    fprintf(stderr, "grid_check cases|complaints|lives|threads ...\n");
    return 1;
}

int main(int argc, char *argv[])
{
    bool threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    int provided, rank;
    MPI_Init_thread(&argc, &argv,
                    threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (threads && provided < MPI_THREAD_MULTIPLE) {
        puts(rank == 0 ? "no threads" : "");
        MPI_Finalize();
        return 0;
    }
    elements_begin();
    int wrong = run(argc, argv);
    elements_end();
    MPI_Finalize();
    if (counted_alive != 0) {
        fprintf(stderr, "rank %d: %d group communicators are left\n", rank,
                counted_alive);
        wrong++;
    }
    return wrong != 0;
}
