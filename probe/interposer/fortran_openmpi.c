/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran_openmpi.c
 * The calls of Fortran programs on Open MPI, whose Fortran library would call
 * PMPI_ functions. As there, arguments are converted and handed to the C
 * function; here that is the one of this library.
 *
 * MPI_BOTTOM and MPI_IN_PLACE are addresses of variables. libmpi.so defines
 * them, and this library brings libmpi.so into the global name space, so that
 * all parts of a process mean the same ones, also those loaded later (Python).
 */
#include <mpi.h>

#if defined(OPEN_MPI) && OPEN_MPI

#include "loaded/fortran.h"

#include <stdio.h>
#include <stdlib.h>

/** Declare the variable in the spellings of Fortran compilers; their address is
 *  NULL where there is none of the name. */
#define VARIABLE(lower, UPPER)                                                 \
    extern __attribute__((weak)) char lower, lower##_, lower##__, UPPER

VARIABLE(mpi_fortran_bottom, MPI_FORTRAN_BOTTOM);
VARIABLE(mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE);

/** Whether an address is that of a variable. */
#define IS(address, lower, UPPER)                                              \
    ((address) == (void *)&lower##_ || (address) == (void *)&lower ||          \
     (address) == (void *)&lower##__ || (address) == (void *)&UPPER)

/** End a program that could not say MPI_IN_PLACE. */
static void check_variables(void)
{
    if (!(&mpi_fortran_in_place_ || &mpi_fortran_in_place ||
          &mpi_fortran_in_place__ || &MPI_FORTRAN_IN_PLACE)) {
        fprintf(stderr, "isochrone-grid: this Open MPI has no MPI_IN_PLACE for "
                        "Fortran\n");
        abort();
    }
}

/** Return a buffer as C names it. */
static void *buffer_of(void *address)
{
    if (address == NULL) {
        return NULL;
    }
    if (IS(address, mpi_fortran_bottom, MPI_FORTRAN_BOTTOM)) {
        return MPI_BOTTOM;
    }
    if (IS(address, mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)) {
        return MPI_IN_PLACE;
    }
    return address;
}

/** Define a function under all its names. */
#define TAKE_OVER(lower, UPPER, PARAMETERS, CALL)                              \
    static void lower##_any PARAMETERS                                         \
    {                                                                          \
        int result = CALL;                                                     \
        if (code) {                                                            \
            *code = result;                                                    \
        }                                                                      \
    }                                                                          \
    ISO_FORTRAN_NAMES(lower, UPPER, PARAMETERS)

#define TYPE(handle) PMPI_Type_f2c(*(handle))
#define COMM         PMPI_Comm_f2c(*comm)
#define OP           PMPI_Op_f2c(*operation)

/* --- beginning and end ---------------------------------------------------- */

static int init(void)
{
    check_variables();
    return MPI_Init(NULL, NULL);
}

static int init_thread(MPI_Fint required, MPI_Fint *provided)
{
    check_variables();
    int given = 0, code = MPI_Init_thread(NULL, NULL, (int)required, &given);
    *provided = given;
    return code;
}

TAKE_OVER(mpi_init, MPI_INIT, (MPI_Fint * code), init())
TAKE_OVER(mpi_init_thread, MPI_INIT_THREAD,
          (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *code),
          init_thread(*required, provided))
TAKE_OVER(mpi_finalize, MPI_FINALIZE, (MPI_Fint * code), MPI_Finalize())

/* --- operations ----------------------------------------------------------- */

TAKE_OVER(mpi_bcast, MPI_BCAST,
          (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root,
           MPI_Fint *comm, MPI_Fint *code),

          MPI_Bcast(buffer_of(buffer), (int)*count, TYPE(type), (int)*root,
                    COMM))

#define SIX                                                                    \
    void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,      \
        MPI_Fint *receive_count, MPI_Fint *receive_type
#define SIX_VALUES                                                             \
    buffer_of(send), (int)*send_count, TYPE(send_type), buffer_of(receive),    \
        (int)*receive_count, TYPE(receive_type)

TAKE_OVER(mpi_gather, MPI_GATHER,
          (SIX, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *code),

          MPI_Gather(SIX_VALUES, (int)*root, COMM))
TAKE_OVER(mpi_scatter, MPI_SCATTER,
          (SIX, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *code),

          MPI_Scatter(SIX_VALUES, (int)*root, COMM))
TAKE_OVER(mpi_allgather, MPI_ALLGATHER, (SIX, MPI_Fint *comm, MPI_Fint *code),
          MPI_Allgather(SIX_VALUES, COMM))
TAKE_OVER(mpi_alltoall, MPI_ALLTOALL, (SIX, MPI_Fint *comm, MPI_Fint *code),
          MPI_Alltoall(SIX_VALUES, COMM))

#define REDUCED                                                                \
    void *send, void *receive, MPI_Fint *count, MPI_Fint *type,                \
        MPI_Fint *operation
#define REDUCED_VALUES                                                         \
    buffer_of(send), buffer_of(receive), (int)*count, TYPE(type), OP

TAKE_OVER(mpi_reduce, MPI_REDUCE,
          (REDUCED, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *code),

          MPI_Reduce(REDUCED_VALUES, (int)*root, COMM))
TAKE_OVER(mpi_allreduce, MPI_ALLREDUCE,
          (REDUCED, MPI_Fint *comm, MPI_Fint *code),
          MPI_Allreduce(REDUCED_VALUES, COMM))
TAKE_OVER(mpi_reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK,
          (REDUCED, MPI_Fint *comm, MPI_Fint *code),

          MPI_Reduce_scatter_block(REDUCED_VALUES, COMM))

#endif
