/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/packed.h"

#include "recording/output.h"

#include <string.h>

static void put_text(FILE *stream, const char *text)
{
    fwrite(text ? text : "", 1, text ? strlen(text) + 1 : 1, stream);
}

/** An empty list may not be anywhere. */
static void put_list(FILE *stream, const void *list, size_t size, int count)
{
    if (count > 0) {
        fwrite(list, size, count, stream);
    }
}

static void put_texts(FILE *stream, const iso_open_file_t *file)
{
    char number[16];
    put_text(stream, file->name);
    put_text(stream, file->filesystem);
    snprintf(number, sizeof(number), "%d", file->hint_count);
    put_text(stream, number);
    for (int k = 0; k < file->hint_count; k++) {
        const iso_hint_t *hint = &file->hints[k];
        put_text(stream, hint->key);
        put_text(stream, hint->given ? hint->value ? "11" : "10" : "01");
        put_text(stream, hint->given);
        put_text(stream, hint->value);
    }
}

char *iso_pack(const iso_io_recording_t *recording, size_t *length)
{
    char *bytes = NULL;
    FILE *stream = iso_memory_open(&bytes, length);
    iso_packed_t head = {.files = recording->files.used,
                         .calls = recording->call_count,
                         .slots = recording->slot_count,
                         .messages_seen = recording->messages_seen,
                         .file_seen = recording->file_seen,
                         .calls_left_out = recording->calls_left_out};
    fwrite(&head, sizeof(head), 1, stream);
    for (int k = 0; k < head.files; k++) {
        const iso_open_file_t *file = &recording->files.list[k];
        iso_packed_file_t packed = {.id = file->id, .leads = file->leads};
        for (int call = ISO_INDEPENDENT; call < ISO_CALLS; call++) {
            iso_spent_add(&packed.independent[0], &file->spent[call][0]);
            iso_spent_add(&packed.independent[1], &file->spent[call][1]);
        }
        fwrite(&packed, sizeof(packed), 1, stream);
    }
    put_list(stream, recording->calls, sizeof(*recording->calls), head.calls);
    put_list(stream, recording->slots, sizeof(*recording->slots), head.slots);
    for (int k = 0; k < head.files; k++) {
        if (recording->files.list[k].leads) {
            put_texts(stream, &recording->files.list[k]);
        }
    }
    iso_memory_close(stream);
    return bytes;
}
