/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file accesses.c
 * Accesses to files with counts that are int, and the ends of those that are
 * split, which have no counts.
 */
#define COUNT         int
#define CALL(Name)    MPI_##Name
#define LIBRARY(Name) PMPI_##Name

#include "io_recorder/counted_accesses.h"

#define END(Full, PARAMETERS, ARGUMENTS)                                       \
    ISO_WRAPPER int Full PARAMETERS                                            \
    {                                                                          \
        ISO_NEXT(Full)                                                         \
        iso_access_t access = iso_access_begin(file, true, ISO_UNKNOWN, 0);    \
        int code = next ARGUMENTS;                                             \
        iso_access_completed(&access);                                         \
        return code;                                                           \
    }
#define ENDS(Name, DATA)                                                       \
    END(MPI_##Name, (MPI_File file, DATA, STATUS), (file, buffer, status))     \
    END(PMPI_##Name, (MPI_File file, DATA, STATUS), (file, buffer, status))

ENDS(File_read_all_end, void *buffer)
ENDS(File_read_at_all_end, void *buffer)
ENDS(File_read_ordered_end, void *buffer)
ENDS(File_write_all_end, const void *buffer)
ENDS(File_write_at_all_end, const void *buffer)
ENDS(File_write_ordered_end, const void *buffer)
