/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file record.h
 * The only writer of the run file: one flat JSON object a line.
 *
 * Every record is on its way to the disk when iso_record_flush returns, so a
 * crash loses nothing that was measured. JSON has no NaN and no infinity; a
 * number that is not finite ends the measurement rather than the file's
 * validity. Used by rank 0 alone.
 */
#pragma once

#include "base/for_all.h"
#include "base/options.h"

typedef struct iso_record {
    FILE *stream;
    bool separator; /**< a comma is due before the next member */
} iso_record_t;

/**
 * Open the run file.
 *
 * @param path   NULL or "-" is standard output
 * @param force  overwrite a file that exists
 * @return 0, or -1 with errno set
 */
int iso_record_open(iso_record_t *record, const char *path, bool force);

/** Begin a record named @a name; members follow, then iso_record_end. */
void iso_record_begin(iso_record_t *record, const char *name);
void iso_record_end(iso_record_t *record);

/** Members. Text is UTF-8; of other bytes each becomes U+FFFD. */
void iso_record_int(iso_record_t *record, const char *key, long value);
void iso_record_double(iso_record_t *record, const char *key, double value);
void iso_record_bool(iso_record_t *record, const char *key, bool value);
void iso_record_text(iso_record_t *record, const char *key, const char *value);
void iso_record_doubles(iso_record_t *record, const char *key,
                        const double *values, int count);

/** Up to 13 members, each of the kind of its value, where a number that is no
 *  double is whole: ISO_MEMBERS(record, ("i", i), ("seconds", seconds)); */
#define ISO_MEMBERS(record, ...)                                               \
    do {                                                                       \
        iso_record_t *iso_into = (record);                                     \
        ISO_FOR_ALL(ISO_EACH_MEMBER, __VA_ARGS__);                             \
    } while (0)
#define ISO_EACH_MEMBER(place, pair) ISO_MEMBER pair
#define ISO_MEMBER(key, value)                                                 \
    _Generic((value),                                                          \
        bool: iso_record_bool,                                                 \
        double: iso_record_double,                                             \
        char *: iso_record_text,                                               \
        const char *: iso_record_text,                                         \
        default: iso_record_int)(iso_into, key, value)

/** A whole record of such members. */
#define ISO_RECORD(record, name, ...)                                          \
    do {                                                                       \
        iso_record_begin(record, name);                                        \
        ISO_MEMBERS(record, __VA_ARGS__);                                      \
        iso_record_end(record);                                                \
    } while (0)

/** A list of texts. @param values  NULL-terminated */
void iso_record_texts(iso_record_t *record, const char *key,
                      const char *const *values);

/** Begin a nested object as a member; ends with iso_record_leave. */
void iso_record_enter(iso_record_t *record, const char *key);
void iso_record_leave(iso_record_t *record);

/** Write the values of a table of options as members. */
void iso_record_options(iso_record_t *record, const iso_option_t *table);

/** Write a "warning" record. */
void iso_record_warning(iso_record_t *record, const char *code,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Write a "warning" record "wrong-result", and complain. At rank 0. */
void iso_record_wrong_result(iso_record_t *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Hand everything written so far to the system, or end all ranks. */
void iso_record_flush(iso_record_t *record);

/** Flush and close. */
void iso_record_close(iso_record_t *record);
