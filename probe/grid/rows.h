/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file rows.h
 * The blocks of all ranks packed and row by row, which is how whole rows are
 * sent.
 */
#pragma once

#include "grid/arrangement.h"
#include "grid/blocks.h"

/** Whether the caller's buffer is already so. */
bool iso_rows_in_buffer(const iso_arrangement_t *a, const iso_blocks_t *all);

/** That buffer, or memory for one; NULL without memory. */
char *iso_rows_alloc(const iso_arrangement_t *a, const iso_blocks_t *all);

/** Release it, unless it is the caller's buffer. */
void iso_rows_free(const iso_blocks_t *all, char *rows);

/** Fill it from the caller's buffer, or the caller's from it; nothing is done
 *  if they are the same. */
int iso_rows_pack(const iso_arrangement_t *a, const iso_blocks_t *all,
                  char *rows);
int iso_rows_unpack(const iso_arrangement_t *a, const iso_blocks_t *all,
                    const char *rows);

/** Where my row is in it. */
char *iso_rows_mine(const iso_arrangement_t *a, char *rows, size_t bytes);

/**
 * The bytes of each row and, after them, the bytes before each row; to be
 * released by free. NULL if there is no memory.
 */
int *iso_rows_counts(const iso_arrangement_t *a, int bytes);
