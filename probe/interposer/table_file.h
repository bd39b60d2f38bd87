/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file table_file.h
 * How the table comes to all ranks: rank 0 reads the file, the others get its
 * text, so that a file system is not asked by every rank at once, and all read
 * the same.
 */
#ifndef ISO_TABLE_FILE_H
#define ISO_TABLE_FILE_H

#include "interposer/table.h"

#include <stdbool.h>

enum { ISO_TABLE_PATH = 4096 };

/**
 * Read the table that ISOCHRONE_TUNING names at rank 0. Collective over
 * MPI_COMM_WORLD. Ends the program if it cannot be read.
 *
 * @param path  at rank 0 where it was found, ISO_TABLE_PATH bytes
 * @return whether there is one
 */
bool iso_table_file_read(iso_table_t *table, char *path);

#endif
