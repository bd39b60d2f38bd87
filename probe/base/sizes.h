/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sizes.h
 * Message sizes as the user writes them:
 *
 *     64,1KiB,4MB            a list
 *     0:1024:32              from 0 to 1024 in steps of 32
 *     8:1MiB:x2              8, 16, 32 ... 1 MiB: each twice the one before
 *     0,1:4MiB:x2            lists and ranges together
 *     auto, auto:0:64KiB     chosen while measuring, where the curve bends;
 *                            auto alone is auto:0:1MiB
 */
#pragma once

#include "base/lists.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ISO_MAX_SIZES = 1024, ISO_ERROR_LENGTH = 256 };

/** Write one line into @a error, of ISO_ERROR_LENGTH bytes; it is -1. */
#define ISO_REFUSE(error, ...)                                                 \
    (snprintf(error, ISO_ERROR_LENGTH, __VA_ARGS__), -1)

/** Message sizes in bytes, in the order given. */
typedef struct {
    int count;
    bool automatic; /**< two sizes, between which others are chosen */
    long long bytes[ISO_MAX_SIZES];
} iso_sizes_t;

/**
 * Read sizes.
 *
 * @param error  at least ISO_ERROR_LENGTH bytes, for one line
 * @return 0, or -1 with an error text
 */
int iso_sizes_parse(const char *text, iso_sizes_t *sizes, char *error);

/** The largest of them. */
long long iso_sizes_largest(const iso_sizes_t *sizes);

/** Read one size such as "64", "1KiB" or "4MB" as bytes, up to 1 PiB. */
int iso_size_parse(const char *text, size_t length, long long *bytes,
                   char *error);
