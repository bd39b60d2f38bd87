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
#define BOTH_END(kind)                                                         \
    ENDS(File_read_##kind##_end, void *buffer)                                 \
    ENDS(File_write_##kind##_end, const void *buffer)

BOTH_END(all)
BOTH_END(at_all)
BOTH_END(ordered)
