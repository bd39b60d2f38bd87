/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file io_parts.h
 * Phases of the last collective file access, recorded by libisochrone-io.so if
 * it is preloaded.
 */
#pragma once

#include <mpi.h>

/** Seconds, of all ranks together; below 0: not seen. */
typedef struct {
    double offsets, counts, exchange, file;
    int rounds;
} iso_io_parts_t;

/** What the library defines: the parts of the last access of this thread.
 *  Collective over the ranks of the file. */
typedef void iso_io_parts_function_t(MPI_Comm comm, iso_io_parts_t *parts);
#define ISO_IO_PARTS_FUNCTION "isochrone_io_parts"

/** The parts of the last access, which all ranks of @a comm made. Collective,
 *  and of no use unless all ranks have the library. */
iso_io_parts_t iso_io_parts_of_last(MPI_Comm comm);
