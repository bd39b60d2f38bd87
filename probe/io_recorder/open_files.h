/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file open_files.h
 * Files that are or were open at this rank: each time that one was opened.
 */
#pragma once

#include "io_recorder/account.h"
#include "io_recorder/view.h"

/** A hint as given by the program and as active; NULL: absent. */
typedef struct {
    char key[MPI_MAX_INFO_KEY + 1];
    char *given, *value;
} iso_hint_t;

typedef struct iso_open_file {
    MPI_File handle; /**< MPI_FILE_NULL when it was closed */
    iso_open_id_t id;
    bool leads; /**< this rank is the leader and stores the following */
    char *name;
    const char *filesystem; /**< of `filesystem_of` */
    iso_hint_t *hints;
    int hint_count;
    /* of each rank */
    iso_view_t view;
    int accesses;    /**< collective ones, recorded or not */
    int collectives; /**< collective calls of any kind */
    int split;       /**< number of the one that has begun and not ended */
    iso_spent_t spent[ISO_CALLS][2]; /**< writes at 1, all others at 0 */
    /** The shape of the last access (-1: none), which began at this byte of the
     *  view's data and at that byte of the file. */
    int last_shape;
    int64_t last_first, last_bytes, last_base;
    int last_call; /**< the last recorded access; -1: none */
} iso_open_file_t;

/** All of them, in the order in which they were opened. */
typedef struct {
    iso_open_file_t *list;
    int used, room;
    int led; /**< how many of these this rank was first of */
} iso_open_files_t;

/** Agree on that before a file is opened. Collective over its ranks. */
iso_open_id_t iso_open_files_agree(iso_open_files_t *files, MPI_Comm comm);

/**
 * The file was opened.
 *
 * @param given  hints of the program
 */
void iso_open_files_add(iso_open_files_t *files, iso_open_id_t id,
                        const char *name, MPI_Info given, MPI_File handle);

/** Return the file, or NULL. */
iso_open_file_t *iso_open_files_find(iso_open_files_t *files, MPI_File handle);

/** Record the active hints and those given. */
void iso_open_file_hints(iso_open_file_t *file, MPI_Info given);

void iso_hints_free(iso_hint_t *hints, int count);
void iso_open_files_free(iso_open_files_t *files);
