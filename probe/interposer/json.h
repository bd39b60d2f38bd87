/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file json.h
 * Reads JSON from memory, value after value, without copies and within a fixed
 * depth. Strict: what RFC 8259 does not allow is an error.
 *
 *     iso_json_object_begin(json);
 *     while (iso_json_member(json, key, sizeof key)) {
 *         if (strcmp(key, "ranks") == 0) ranks = iso_json_number(json);
 *         else iso_json_skip(json);
 *     }
 *
 * The first error stays, and ends all loops; what was read then is of no use.
 */
#ifndef ISO_JSON_H
#define ISO_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum { ISO_JSON_DEPTH = 32 };

typedef struct iso_json {
    const char *begin, *at, *end;
    const char *error; /**< what is wrong at the place @a at, or NULL */
    int depth;
    unsigned empty; /**< bit of a depth: nothing of it has been read yet */
} iso_json_t;

iso_json_t iso_json_open(const char *text, size_t length);

void iso_json_object_begin(iso_json_t *json);

/** Go to the next member and read its key, cut to @a size bytes; false after
 *  the last one. Its value has to be read or skipped. */
bool iso_json_member(iso_json_t *json, char *key, size_t size);

void iso_json_array_begin(iso_json_t *json);

/** Go to the next element, which has to be read or skipped; false after the
 *  last one. */
bool iso_json_element(iso_json_t *json);

/** Read a string, cut to @a size bytes with its zero. Characters beyond ASCII
 *  and control characters read as '?': nothing that is looked for has them. */
void iso_json_string(iso_json_t *json, char *text, size_t size);

/** Read a number; those beyond double are infinite. */
double iso_json_number(iso_json_t *json);

/** Read a number that is an integer, from 0 to 2^53. */
long long iso_json_integer(iso_json_t *json);

/** Read a null, if there is one. */
bool iso_json_null(iso_json_t *json);

/** Pass over a value of any kind. */
void iso_json_skip(iso_json_t *json);

/** Whether there is nothing more, and no error. */
bool iso_json_end(iso_json_t *json);

/** Keep an error of the caller's, if it is the first one. */
void iso_json_fail(iso_json_t *json, const char *error);

#endif
