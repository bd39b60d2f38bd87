/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/program.h"

#include "preload/wrapper.h"

#include <mpi.h>

static int begun(int code)
{
    if (code == MPI_SUCCESS) {
        iso_program_begins();
    }
    return code;
}

ISO_WRAPPER int MPI_Init(int *argc, char ***argv)
{
    return begun(PMPI_Init(argc, argv));
}

ISO_WRAPPER int MPI_Init_thread(int *argc, char ***argv, int required,
                                int *provided)
{
    return begun(PMPI_Init_thread(argc, argv, required, provided));
}

ISO_WRAPPER int MPI_Finalize(void)
{
    iso_program_ends();
    return PMPI_Finalize();
}
