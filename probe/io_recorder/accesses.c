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

#define END(Full, KIND, WRITE, PARAMETERS, ARGUMENTS)                          \
    ISO_WRAPPER int Full PARAMETERS                                            \
    {                                                                          \
        ISO_NEXT(Full)                                                         \
        iso_access_t access = iso_access_begin(file, KIND, ISO_UNKNOWN, 0);    \
        access.write = WRITE;                                                  \
        int code = next ARGUMENTS;                                             \
        iso_access_completed(&access);                                         \
        return code;                                                           \
    }
#define ENDS(Name, KIND, WRITE, DATA)                                          \
    END(MPI_##Name, KIND, WRITE, (MPI_File file, DATA, MPI_Status * status),   \
        (file, buffer, status))                                                \
    END(PMPI_##Name, KIND, WRITE, (MPI_File file, DATA, MPI_Status * status),  \
        (file, buffer, status))
#define BOTH_END(kind, KIND)                                                   \
    ENDS(File_read_##kind##_end, KIND, false, void *buffer)                    \
    ENDS(File_write_##kind##_end, KIND, true, const void *buffer)

BOTH_END(all, ISO_COLLECTIVE)
BOTH_END(at_all, ISO_COLLECTIVE)
BOTH_END(ordered, ISO_ORDERED)
