/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file settings.h
 * Environment variables of this process that configure the MPI library.
 * Variables set by launchers and possible secrets are omitted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    ISO_SETTINGS_MOST = 200,   /**< at most this many are recorded */
    ISO_SETTING_LONGEST = 500, /**< bytes of a value; more is cut */
};

typedef struct {
    const char *text; /**< NAME=VALUE, in the environment */
    size_t name;      /**< length of the name */
    int secret;       /**< possible secret: only its name may be recorded */
} iso_setting_t;

/** Settings in the order of their names. */
typedef struct {
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

/** FNV-1a, 32 bits, of a text; continues from @a sum, first ISO_SUM. */
uint32_t iso_sum(uint32_t sum, const char *text, size_t length);

#define ISO_SUM 2166136261u
