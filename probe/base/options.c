/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "base/options.h"
#include "base/words.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Sizes that a plain MPI count can hold. */
static int parse_plain_sizes(const char *text, iso_sizes_t *sizes, char *error)
{
    if (iso_sizes_parse(text, sizes, error)) {
        return -1;
    }
    if (sizes->automatic) {
        return ISO_REFUSE(
            error,
            "'%.80s': automatic sizes are for sweeps; list the sizes, "
            "such as 64,1KiB",
            text);
    }
    if (iso_sizes_largest(sizes) > INT_MAX) {
        return ISO_REFUSE(
            error,
            "'%.80s' contains a size of 2 GiB or more; give smaller sizes",
            text);
    }
    return 0;
}

static int parse_counts(const char *text, iso_counts_t *counts, char *error)
{
    iso_counts_t found = {0};
    const char *rest = text;
    while (found.count < ISO_MAX_COUNTS && isdigit((unsigned char)*rest)) {
        char *end = NULL;
        long value = strtol(rest, &end, 10);
        if (value < 1 || value > INT_MAX) {
            break;
        }
        found.value[found.count++] = (int)value;
        if (*end == '\0') {
            *counts = found;
            return 0;
        }
        if (*end != ',') {
            break;
        }
        rest = end + 1;
    }
    return ISO_REFUSE(
        error, "'%.80s' is not a list of whole numbers from 1 such as 4,8,2",
        text);
}

static int parse_choice(const iso_option_t *option, const char *text,
                        char *error)
{
    const char *word = option->metavar;
    for (;;) {
        size_t length = strcspn(word, "|");
        if (iso_word_is(word, length, text)) {
            *(const char **)option->value = text;
            return 0;
        }
        if (word[length] == '\0') {
            return ISO_REFUSE(error, "--%s is '%.40s', not one of %s",
                              option->name, text, option->metavar);
        }
        word += length + 1;
    }
}

/** Seconds of a unit of time; 0 if unknown. */
static double seconds_of(const char *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1},  {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3},
                 {"s", 1}, {"m", 60},    {"min", 60},  {"h", 3600}};
    for (size_t k = 0; k < ISO_LENGTH(units); k++) {
        if (strcmp(unit, units[k].name) == 0) {
            return units[k].seconds;
        }
    }
    return 0;
}

static int parse_number(const iso_option_t *option, const char *text,
                        char *error)
{
    char *end = NULL;
    errno = 0;
    if (iso_option_kind(option) == ISO_OPTION_COUNT) {
        long count = strtol(text, &end, 10);
        if (end == text || *end || errno || count < 0 || count > INT_MAX) {
            return ISO_REFUSE(
                error, "--%s is '%.80s', not a whole number of 0 or more",
                option->name, text);
        }
        *(long *)option->value = count;
        return 0;
    }
    bool time = iso_option_kind(option) == ISO_OPTION_SECONDS;
    double number = strtod(text, &end);
    double unit = time ? seconds_of(end) : *end == '\0';
    number *= unit;
    if (end == text || unit == 0 || errno || !(number >= 0) || isinf(number)) {
        return ISO_REFUSE(
            error,
            time ? "--%s is '%.80s', not a time such as 300, 5min or "
                   "250ms"
                 : "--%s is '%.80s', not a number of 0 or more",
            option->name, text);
    }
    *(double *)option->value = number;
    return 0;
}

/** A fraction: "5%", or a number below 1; "5" may mean either. */
static int parse_percent(const iso_option_t *option, const char *text,
                         char *error)
{
    char *end = NULL;
    double number = strtod(text, &end);
    if (end == text || !(number >= 0) || isinf(number)) {
        end = NULL;
    } else {
        while (*end == ' ') {
            end++;
        }
    }
    bool percent = end && strcmp(end, "%") == 0;
    if (!percent && (end == NULL || *end)) {
        return ISO_REFUSE(error,
                          "--%s is '%.80s', not a percentage such as 5%%",
                          option->name, text);
    }
    if (!percent && number >= 1) {
        return ISO_REFUSE(error,
                          "--%s is '%.80s', which is ambiguous: write %g%%",
                          option->name, text, number);
    }
    *(double *)option->value = percent ? number / 100 : number;
    return 0;
}

static int store(const iso_option_t *option, const char *text, char *error)
{
    switch (iso_option_kind(option)) {
    case ISO_OPTION_FLAG:
        *(bool *)option->value = text != NULL;
        return 0;
    case ISO_OPTION_COUNT:
    case ISO_OPTION_NUMBER:
    case ISO_OPTION_SECONDS:
        return parse_number(option, text, error);
    case ISO_OPTION_PERCENT:
        return parse_percent(option, text, error);
    case ISO_OPTION_SIZES:
        return parse_plain_sizes(text, option->value, error);
    case ISO_OPTION_SWEEP:
        return iso_sizes_parse(text, option->value, error);
    case ISO_OPTION_SIZE:
        return iso_size_parse(text, strlen(text), option->value, error);
    case ISO_OPTION_COUNTS:
        return parse_counts(text, option->value, error);
    case ISO_OPTION_CHOICE:
        return parse_choice(option, text, error);
    case ISO_OPTION_TEXT:
        *(const char **)option->value = text;
        return 0;
    }
    return -1;
}

int iso_options_reset(const iso_option_t *table, char *error)
{
    for (const iso_option_t *option = table; option->name; option++) {
        bool has_value = option->initial ||
                         iso_option_kind(option) == ISO_OPTION_FLAG ||
                         iso_option_kind(option) == ISO_OPTION_TEXT;
        if (has_value && store(option, option->initial, error)) {
            return -1;
        }
    }
    return 0;
}

static const iso_option_t *find(const iso_option_t *const tables[],
                                const char *name, size_t length)
{
    for (; *tables; tables++) {
        for (const iso_option_t *option = *tables; option->name; option++) {
            if (strlen(option->name) == length &&
                strncmp(option->name, name, length) == 0) {
                return option;
            }
        }
    }
    return NULL;
}

int iso_options_parse(const iso_option_t *const tables[], int argc,
                      char *const argv[], char *error)
{
    for (int k = 0; k < argc; k++) {
        if (strncmp(argv[k], "--", 2) != 0) {
            return ISO_REFUSE(
                error, "'%.80s' is not an option (options begin with --)",
                argv[k]);
        }
        const char *name = argv[k] + 2;
        size_t length = strcspn(name, "=");
        const iso_option_t *option = find(tables, name, length);
        if (option == NULL) {
            return ISO_REFUSE(error,
                              "there is no option '%.80s' (--help lists them)",
                              argv[k]);
        }
        const char *value = name[length] == '=' ? name + length + 1 : NULL;
        if (iso_option_kind(option) == ISO_OPTION_FLAG) {
            if (value) {
                return ISO_REFUSE(error, "--%s takes no value", option->name);
            }
            value = "";
        } else if (value == NULL && k + 1 < argc &&
                   strncmp(argv[k + 1], "--", 2) != 0) {
            value = argv[++k];
        }
        if (value == NULL) {
            return ISO_REFUSE(error, "--%s needs a value", option->name);
        }
        if (store(option, value, error)) {
            return -1;
        }
    }
    return 0;
}

void iso_options_help(const iso_option_t *table)
{
    for (const iso_option_t *option = table; option->name; option++) {
        char left[80];
        snprintf(left, sizeof(left), "--%s %s", option->name,
                 option->metavar ? option->metavar : "");
        printf("  %-30s %s", left, option->help);
        if (option->initial) {
            printf(" (default: %s)", option->initial);
        }
        putchar('\n');
    }
}
