/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file settings.h
 * Variables of the environment that steer an MPI library, as this process has
 * them: a time means little without them. Left out is what launchers set for
 * each job by themselves, and what looks like a secret.
 */
#ifndef ISO_SETTINGS_H
#define ISO_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

enum {
    ISO_SETTINGS_MOST = 200,   /**< as many are kept */
    ISO_SETTING_LONGEST = 500, /**< bytes of a value; more is cut */
};

typedef struct iso_setting {
    const char *text; /**< NAME=VALUE, in the environment */
    size_t name;      /**< length of the name */
    int secret;       /**< it looks like one: only its name may be told */
} iso_setting_t;

/** Settings in the order of their names. */
typedef struct iso_settings {
    iso_setting_t one[ISO_SETTINGS_MOST];
    int count;
    int more; /**< how many were too many */
} iso_settings_t;

/** Find them. Any thread may do so while none changes the environment. */
void iso_settings_find(iso_settings_t *settings);

/**
 * Write a value, whole or cut: then its length and checksum follow, so that
 * long values that differ still do.
 *
 * @param text  room for ISO_SETTING_LONGEST + 64 bytes
 */
void iso_setting_value(const iso_setting_t *setting, char *text);

/** A checksum: equal for processes that have the same settings. */
uint32_t iso_settings_sum(const iso_settings_t *settings);

/** FNV-1a, 32 bits, of a text; goes on from @a sum, first ISO_SUM. */
uint32_t iso_sum(uint32_t sum, const char *text, size_t length);

#define ISO_SUM 2166136261u

#endif
