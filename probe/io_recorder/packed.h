/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file packed.h
 * What a rank recorded, as one block of bytes for rank 0.
 */
#pragma once

#include "io_recorder/io_recorder.h"

/** The beginning of the block. Behind it are the files, the calls, their slots,
 *  and the texts of the files that the rank leads: name, number of hints, and
 *  of each its key, whether it was given and is active ("11"), both values.
 */
typedef struct {
    int files, calls, slots;
    bool messages_seen, file_seen;
    int64_t calls_left_out;
} iso_packed_t;

typedef struct {
    iso_open_id_t id;
    bool leads;
    iso_spent_t independent[2]; /**< writes at 1, reads at 0 */
} iso_packed_file_t;

/** Pack; to be released. */
char *iso_pack(const iso_io_recording_t *recording, size_t *length);
