/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran_openmpi.c
 * The intercepted calls of Fortran programs on Open MPI, whose Fortran library
 * calls PMPI_ functions. Arguments are converted and passed to the C function
 * of this library.
 *
 * MPI_BOTTOM and MPI_IN_PLACE are addresses of variables. libmpi.so defines
 * them, and this library brings libmpi.so into the global name space, so that
 * all parts of a process mean the same ones, also those loaded later (Python).
 */
#include <mpi.h>

#if defined(OPEN_MPI) && OPEN_MPI

#include "preload/fortran.h"

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

/** Define a function under all its names, with parameters of these names and a
 *  code behind them. */
#define TAKE_OVER(lower, UPPER, CALL, ...)                                     \
    static void mpi_##lower##_any(ISO_ADDRESSES(__VA_ARGS__))                  \
    {                                                                          \
        int result = CALL;                                                     \
        if (code) {                                                            \
            *code = result;                                                    \
        }                                                                      \
    }                                                                          \
    ISO_FORTRAN_NAMES(mpi_##lower, MPI_##UPPER, (ISO_ADDRESSES(__VA_ARGS__)))

#define TYPE(handle) PMPI_Type_f2c(*(handle))
#define COMM         PMPI_Comm_f2c(*comm)

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

TAKE_OVER(init, INIT, init(), code)
TAKE_OVER(init_thread, INIT_THREAD, init_thread(*required, provided), required,
          provided, code)
TAKE_OVER(finalize, FINALIZE, MPI_Finalize(), code)

/* --- operations ----------------------------------------------------------- */

TAKE_OVER(bcast, BCAST,
          MPI_Bcast(buffer_of(buffer), (int)*count, TYPE(type), (int)*root,
                    COMM),
          buffer, count, type, root, comm, code)

#define SIX send, send_count, send_type, receive, receive_count, receive_type
#define SIX_VALUES                                                             \
    buffer_of(send), (int)*send_count, TYPE(send_type), buffer_of(receive),    \
        (int)*receive_count, TYPE(receive_type)

TAKE_OVER(gather, GATHER, MPI_Gather(SIX_VALUES, (int)*root, COMM), SIX, root,
          comm, code)
TAKE_OVER(scatter, SCATTER, MPI_Scatter(SIX_VALUES, (int)*root, COMM), SIX,
          root, comm, code)
TAKE_OVER(allgather, ALLGATHER, MPI_Allgather(SIX_VALUES, COMM), SIX, comm,
          code)
TAKE_OVER(alltoall, ALLTOALL, MPI_Alltoall(SIX_VALUES, COMM), SIX, comm, code)

#define REDUCED send, receive, count, type, operation
#define REDUCED_VALUES                                                         \
    buffer_of(send), buffer_of(receive), (int)*count, TYPE(type),              \
        PMPI_Op_f2c(*operation)

TAKE_OVER(reduce, REDUCE, MPI_Reduce(REDUCED_VALUES, (int)*root, COMM), REDUCED,
          root, comm, code)
TAKE_OVER(allreduce, ALLREDUCE, MPI_Allreduce(REDUCED_VALUES, COMM), REDUCED,
          comm, code)
TAKE_OVER(reduce_scatter_block, REDUCE_SCATTER_BLOCK,
          MPI_Reduce_scatter_block(REDUCED_VALUES, COMM), REDUCED, comm, code)

#endif
