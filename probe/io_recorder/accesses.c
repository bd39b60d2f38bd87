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

#define END(Name, KIND, WRITE, DATA)                                           \
    ISO_INTERCEPT_BOTH(Name, (MPI_File file, DATA, MPI_Status * status),       \
                       (file, buffer, status),                                 \
                       iso_access_t access =                                   \
                           iso_access_begin(file, KIND, ISO_UNKNOWN, 0);       \
                       access.write = WRITE, iso_access_completed(&access))
#define BOTH_END(kind, KIND)                                                   \
    END(File_read_##kind##_end, KIND, false, void *buffer)                     \
    END(File_write_##kind##_end, KIND, true, const void *buffer)

BOTH_END(all, ISO_COLLECTIVE)
BOTH_END(at_all, ISO_COLLECTIVE)
BOTH_END(ordered, ISO_ORDERED)
