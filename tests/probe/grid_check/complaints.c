/* SPDX-License-Identifier: BSD-3-Clause */
#include "complaints.h"

#include "base/sizes.h"
#include "call.h"
#include "counted.h"
#include "elements.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum fault {
    NO_FAULT,
    ROOT_TOO_LARGE,
    ROOT_NEGATIVE,
    COUNT_NEGATIVE,
    NO_TYPE,
    NOT_COMMITTED,
    NO_OPERATION,
    WRONG_OPERATION,
    FAULTS
} fault_t;

static const char *const fault_names[FAULTS] = {
    "no fault", "root too large",     "root negative", "count negative",
    "no type",  "type not committed", "no operation",  "wrong operation"};

static int heard;

static void hear(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    heard++;
}

static bool reduces(operation_t o)
{
    return o == REDUCE || o == ALLREDUCE || o == REDUCE_SCATTER_BLOCK;
}

static bool has_root(operation_t o)
{
    return o == BCAST || o == GATHER || o == SCATTER || o == REDUCE;
}

static bool applies(fault_t fault, operation_t o)
{
    switch (fault) {
    case ROOT_TOO_LARGE:
    case ROOT_NEGATIVE:
        return has_root(o);
    case NO_OPERATION:
    case WRONG_OPERATION:
        return reduces(o);
    case COUNT_NEGATIVE: /* MPICH's own reductions fall over these */
    case NO_TYPE:
        return !reduces(o);
    case NOT_COMMITTED: /* of the others libraries do not complain everywhere */
        return o == BCAST || o == ALLGATHER || o == ALLTOALL;
    default:
        return true;
    }
}

static arguments_t with_fault(fault_t fault, arguments_t a,
                              MPI_Datatype uncommitted, int size)
{
    switch (fault) {
    case ROOT_TOO_LARGE:
        a.root = size;
        break;
    case ROOT_NEGATIVE:
        a.root = -7;
        break;
    case COUNT_NEGATIVE:
        a.send_count = a.receive_count = -1;
        break;
    case NO_TYPE:
        a.send_type = a.receive_type = MPI_DATATYPE_NULL;
        break;
    case NOT_COMMITTED:
        a.send_type = a.receive_type = uncommitted;
        break;
    case NO_OPERATION:
        a.op = MPI_OP_NULL;
        break;
    case WRONG_OPERATION:
        a.op = MPI_BAND;
        a.receive_type = MPI_DOUBLE;
        break;
    default:
        break;
    }
    return a;
}

/** Call, and say what was answered. */
static int answer(operation_t o, const arguments_t *a, const iso_grid_t *grid,
                  int *times)
{
    int class = MPI_SUCCESS;
    heard = 0;
    MPI_Error_class(call(o, a, grid), &class);
    *times = heard;
    return class;
}

/** Compare what is answered; a class of -1: what the library answers. */
static int compare(operation_t o, const arguments_t *a, const iso_grid_t *grid,
                   int class, const char *what)
{
    int times, expected = class == MPI_SUCCESS ? 0 : 1;
    if (class < 0) {
        class = answer(o, a, NULL, &expected);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (getenv("GRID_CHECK_VERBOSE")) {
        fprintf(stderr, "%s, %s\n", operation_names[o], what);
    }
    int got = answer(o, a, grid, &times);
    MPI_Barrier(MPI_COMM_WORLD);
    /* MPICH 5.0 tells the handler but, of some operations, not the caller. */
    bool told = class != MPI_SUCCESS || expected == 0;
    if (times == expected && (got == class || (!told && got != MPI_SUCCESS))) {
        return 0;
    }
    fprintf(stderr, "%s, %s: class %d, heard %d times; not %d, %d times\n",
            operation_names[o], what, got, times, class, expected);
    return 1;
}

static int faults_of(operation_t o, const arguments_t *right, int size)
{
    static const iso_grid_t grid = {.kind = ISO_GRID_ROWS_OF, .length = 2};
    const iso_grid_t misfit = {
        .kind = ISO_GRID_EXACT, .rows = size, .length = 2};
    int wrong = 0;
    MPI_Datatype uncommitted;
    MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
    for (fault_t f = NO_FAULT; f < FAULTS; f++) {
        if (applies(f, o)) {
            arguments_t a = with_fault(f, *right, uncommitted, size);
            wrong += compare(o, &a, &grid, -1, fault_names[f]);
        }
    }
    wrong +=
        compare(o, right, &misfit, MPI_ERR_ARG, "a grid that does not fit");
    if (o == ALLTOALL || o == REDUCE_SCATTER_BLOCK) {
        counted_no_memory = true;
        wrong += compare(o, right, &grid, MPI_ERR_NO_MEM, "no memory");
        counted_no_memory = false;
    }
    MPI_Type_free(&uncommitted);
    return wrong;
}

int complaints_run(void)
{
    static double send[4096], receive[4096];
    int wrong = 0, all_wrong = 0, size;
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    arguments_t right = {send,    3,       MPI_INT, receive, 3,
                         MPI_INT, MPI_SUM, 0,       comm};
    for (operation_t o = 0; o < OPERATIONS; o++) {
        wrong += faults_of(o, &right, size);
    }
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all_wrong;
}
