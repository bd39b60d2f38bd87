/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file view.h
 * The view that a rank has of a file: a datatype repeated from a displacement
 * on.
 */
#pragma once

#include "io_recorder/pieces.h"

#include <mpi.h>

typedef struct {
    int64_t displacement; /**< bytes from the beginning of the file */
    int64_t etype;        /**< bytes of one, in which offsets are counted */
    int64_t extent;       /**< from one copy of the datatype to the next */
    iso_pieces_t tile;    /**< of one copy */
    bool known;           /**< whether the pieces are */
} iso_view_t;

/** The view that a file has when it is opened: all its bytes. */
iso_view_t iso_view_of_all(void);

/** The view as MPI_File_set_view is given it. */
iso_view_t iso_view_made(MPI_Offset displacement, MPI_Datatype etype,
                         MPI_Datatype filetype, const char *representation);

/**
 * Add the pieces of an access to a list, and end it.
 *
 * @param first  byte of the view's data at which it begins
 */
void iso_view_access(const iso_view_t *view, int64_t first, int64_t bytes,
                     iso_pieces_t *list);

/** About how many contiguous pieces of the file an access has. */
int64_t iso_view_pieces(const iso_view_t *view, int64_t bytes);

/** About how many bytes of the file it is from its first to its last. */
int64_t iso_view_span(const iso_view_t *view, int64_t bytes);

/** Where in the file byte @a first of the view's data is. */
int64_t iso_view_place(const iso_view_t *view, int64_t first);

void iso_view_free(iso_view_t *view);
