/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file options.h
 * Options as tables: the owner of an option declares its name, kind, default
 * and help once. Parsing, --help and the run file follow from that.
 *
 * Functions return 0, or -1 after writing one line into an error text; nothing
 * is printed here. None of them needs MPI to be initialised.
 */
#pragma once

#include "base/sizes.h"

enum { ISO_MAX_COUNTS = 64 };

/** Whole numbers from 1, in the order given. */
typedef struct {
    int count;
    int value[ISO_MAX_COUNTS];
} iso_counts_t;

/** Kind of an option, and the type its value pointer points to. */
typedef enum {
    ISO_OPTION_FLAG,    /**< bool; takes no value */
    ISO_OPTION_COUNT,   /**< long, 0 or more */
    ISO_OPTION_NUMBER,  /**< double, 0 or more */
    ISO_OPTION_PERCENT, /**< double, a fraction: "5%", or below 1: "0.05" */
    ISO_OPTION_SECONDS, /**< double, 0 or more: "300", "5m", "5min", "250ms" */
    ISO_OPTION_SIZE,    /**< long long, bytes: "4MiB" */
    ISO_OPTION_SIZES,   /**< iso_sizes_t, each below 2 GiB: "64,1KiB:1MiB:x2" */
    ISO_OPTION_SWEEP,   /**< iso_sizes_t of any size, or "auto" */
    ISO_OPTION_COUNTS,  /**< iso_counts_t: "4,8,2" */
    ISO_OPTION_CHOICE,  /**< const char *: one of the words in metavar, "a|b" */
    ISO_OPTION_TEXT,    /**< const char * */
} iso_option_kind_t;

/** Added to the kind of an option that only --help-all lists. */
enum { ISO_EXPERT = 1 << 6 };

/** An option. */
typedef struct {
    const char *name;    /**< without the dashes; NULL ends a table */
    int kind;            /**< iso_option_kind_t, and ISO_EXPERT or not */
    const char *metavar; /**< its name in the help; the words of a choice */
    const char *initial; /**< default as the user would type it, or NULL */
    const char *help;    /**< one line, lower case, no full stop */
    void *value;         /**< where it is stored */
} iso_option_t;

/** Return the kind of an option without ISO_EXPERT. */
static inline iso_option_kind_t iso_option_kind(const iso_option_t *option)
{
    return (iso_option_kind_t)(option->kind & ~ISO_EXPERT);
}

/** Store the defaults of a table. */
int iso_options_reset(const iso_option_t *table, char *error);

/**
 * Parse "--name value", "--name=value" and "--flag".
 *
 * @param tables  NULL-terminated list of tables; the first that has a name
 *                owns it
 * @param error   at least ISO_ERROR_LENGTH bytes
 */
int iso_options_parse(const iso_option_t *const tables[], int argc,
                      char *const argv[], char *error);

/** Print the help of a table to standard output. */
void iso_options_help(const iso_option_t *table);
