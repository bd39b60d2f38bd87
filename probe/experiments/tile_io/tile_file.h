/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tile_file.h
 * A tiling written to a file and read back through collective MPI-IO. Every
 * function is called on all ranks at the same time. An error ends all ranks
 * after one line, and removes a file that was created here.
 */
#pragma once

#include "experiment.h"
#include "experiments/tile_io/tiling.h"
#include "machine/io_parts.h"

typedef struct {
    const iso_context_t *ctx;
    const iso_tiling_t *tiling;
    const char *name; /**< as MPI_File_open takes it, with "ufs:" or so */
    MPI_Info hints;
    MPI_Comm grid; /**< x by y, as mpi-tile-io has it: OMPIO looks at that */
    MPI_Datatype view;
    unsigned char *tile;
    bool made; /**< there was no such file before */
} iso_tile_file_t;

/** One collective access. Times of this rank in seconds. */
typedef struct {
    double open, seconds, close;
    iso_io_parts_t parts; /**< of `seconds`, all ranks together */
    long long file_io;    /**< bytes that this process read or wrote through
                               the system meanwhile; -1 where not known */
    MPI_Info used; /**< hints the library reports; released by the caller */
} iso_tile_access_t;

/**
 * Prepare. Ends all ranks if the file cannot be made.
 *
 * @param replace  the file may exist
 */
void iso_tile_file_init(iso_tile_file_t *file, const iso_context_t *ctx,
                        const iso_tiling_t *tiling, const char *name,
                        MPI_Info hints, bool replace);

/** Remove the file, and release what was prepared. */
void iso_tile_file_free(iso_tile_file_t *file, bool keep);

/** Make the file and write every tile with the bytes of repetition @a seed. */
void iso_tile_file_write(iso_tile_file_t *file, int seed,
                         iso_tile_access_t *access);

/** Read every tile back; ends all ranks if a byte is not what was written. */
void iso_tile_file_read(iso_tile_file_t *file, int seed,
                        iso_tile_access_t *access);

/**
 * Read the file once more, not by tiles but from begin to end, each rank a
 * share of it; ends all ranks if a byte is not where it should be.
 */
void iso_tile_file_check(iso_tile_file_t *file, int seed);

/** Remove the file, so that the next writing makes it anew. */
void iso_tile_file_remove(iso_tile_file_t *file);
