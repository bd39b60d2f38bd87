/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sizes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double MAX_SIZE = 1125899906842624.; /* 1 PiB */

static const char DEFAULT_RANGE[] = "0:1MiB";

static int refuse(char *error, const char *text, size_t length,
                  const char *what)
{
    return ISO_REFUSE(error, "'%.*s' is %s", (int)(length < 80 ? length : 80),
                      text, what);
}

/** Factor of a unit: binary for KiB and K, decimal for kB; 0 if unknown. */
static double unit_factor(const char *unit, size_t length)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {
        {"", 1},
        {"b", 1},
        {"k", 1024.},
        {"kib", 1024.},
        {"kb", 1e3},
        {"m", 1048576.},
        {"mib", 1048576.},
        {"mb", 1e6},
        {"g", 1073741824.},
        {"gib", 1073741824.},
        {"gb", 1e9},
        {"t", 1099511627776.},
        {"tib", 1099511627776.},
        {"tb", 1e12},
    };
    for (size_t k = 0; k < ISO_LENGTH(units); k++) {
        if (strlen(units[k].name) == length &&
            strncasecmp(units[k].name, unit, length) == 0) {
            return units[k].factor;
        }
    }
    return 0;
}

int iso_size_parse(const char *text, size_t length, long long *bytes,
                   char *error)
{
    char copy[32];
    char *unit = NULL;
    snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
    double number = isdigit((unsigned char)copy[0]) ? strtod(copy, &unit) : -1;
    double factor = unit ? unit_factor(unit, strlen(unit)) : 0;
    if (length >= sizeof(copy) || number < 0 || factor == 0) {
        return refuse(error, text, length,
                      "not a message size (such as 64 or 1KiB; a range: "
                      "1:1MiB:x2)");
    }
    double value = number * factor;
    if (value > MAX_SIZE || value != floor(value)) {
        return refuse(error, text, length,
                      "not a whole number of bytes up to 1024 TiB");
    }
    *bytes = value;
    return 0;
}

long long iso_sizes_largest(const iso_sizes_t *sizes)
{
    long long largest = 0;
    for (int k = 0; k < sizes->count; k++) {
        largest = sizes->bytes[k] > largest ? sizes->bytes[k] : largest;
    }
    return largest;
}

static bool holds(const iso_sizes_t *sizes, long long bytes)
{
    for (int k = 0; k < sizes->count; k++) {
        if (sizes->bytes[k] == bytes) {
            return true;
        }
    }
    return false;
}

/** Split "A:B" or "A:B:C". @return number of parts, lengths in @a lengths */
static int split(const char *text, size_t length, const char *parts[3],
                 size_t lengths[3])
{
    int count = 0;
    const char *end = text + length;
    while (count < 3) {
        const char *colon = memchr(text, ':', (end - text));
        parts[count] = text;
        lengths[count++] = ((colon ? colon : end) - text);
        if (colon == NULL) {
            return count;
        }
        text = colon + 1;
    }
    return count + 1; /* more than three */
}

/** START:STOP of a range. */
static int parse_ends(const char *const parts[], const size_t lengths[],
                      long long *start, long long *stop, char *error)
{
    if (iso_size_parse(parts[0], lengths[0], start, error) ||
        iso_size_parse(parts[1], lengths[1], stop, error)) {
        return -1;
    }
    if (*start > *stop) {
        return refuse(error, parts[0], lengths[0] + 1 + lengths[1],
                      "an empty range: it starts after its end");
    }
    return 0;
}

/** Add START, START + STEP ... or START, START * FACTOR ... */
static int add_range(const char *text, size_t length, iso_sizes_t *sizes,
                     char *error)
{
    const char *parts[3];
    size_t lengths[3];
    long long start, stop, step = 0;
    double factor = 1;
    if (split(text, length, parts, lengths) != 3) {
        return refuse(error, text, length,
                      "not a range START:STOP:STEP or START:STOP:xFACTOR, "
                      "such as 1:1MiB:x2");
    }
    if (parse_ends(parts, lengths, &start, &stop, error)) {
        return -1;
    }
    if (*parts[2] == 'x') {
        char *end = NULL;
        factor = strtod(parts[2] + 1, &end);
        if (end != parts[2] + lengths[2] || !(factor > 1) || start == 0) {
            return refuse(error, text, length,
                          "not a range: xFACTOR must be above 1, and START "
                          "is above 0");
        }
    } else if (iso_size_parse(parts[2], lengths[2], &step, error)) {
        return -1;
    } else if (step == 0) {
        return refuse(error, text, length, "a range with step 0");
    }
    long long next;
    for (long long bytes = start; bytes <= stop; bytes = next) {
        next = step ? bytes + step : llround(bytes * factor);
        next = next > bytes ? next : bytes + 1;
        if (holds(sizes, bytes)) {
            continue;
        }
        if (sizes->count == ISO_MAX_SIZES) {
            return refuse(error, text, length,
                          "a range of too many sizes (START:STOP:x2 "
                          "doubles each size)");
        }
        sizes->bytes[sizes->count++] = bytes;
    }
    return 0;
}

static int add_size(const char *text, size_t length, iso_sizes_t *sizes,
                    char *error)
{
    long long bytes;
    if (iso_size_parse(text, length, &bytes, error)) {
        return -1;
    }
    if (holds(sizes, bytes)) {
        return refuse(error, text, length, "a message size given twice");
    }
    if (sizes->count == ISO_MAX_SIZES) {
        return refuse(error, text, length, "too many message sizes");
    }
    sizes->bytes[sizes->count++] = bytes;
    return 0;
}

/** "auto" or "auto:START:STOP". */
static int parse_automatic(const char *text, iso_sizes_t *sizes, char *error)
{
    const char *range = text[4] == ':' ? text + 5 : DEFAULT_RANGE;
    const char *parts[3];
    size_t lengths[3];
    if ((text[4] != '\0' && text[4] != ':') ||
        split(range, strlen(range), parts, lengths) != 2) {
        return refuse(error, text, strlen(text), "not auto or auto:START:STOP");
    }
    if (parse_ends(parts, lengths, &sizes->bytes[0], &sizes->bytes[1], error)) {
        return -1;
    }
    if (sizes->bytes[0] == sizes->bytes[1]) {
        return refuse(error, text, strlen(text),
                      "a range that holds only one size");
    }
    sizes->count = 2;
    sizes->automatic = true;
    return 0;
}

int iso_sizes_parse(const char *text, iso_sizes_t *sizes, char *error)
{
    memset(sizes, 0, sizeof(*sizes));
    if (strncmp(text, "auto", 4) == 0) {
        return parse_automatic(text, sizes, error);
    }
    for (;;) {
        size_t length = strcspn(text, ",");
        bool range = memchr(text, ':', length) != NULL;
        if ((range ? add_range : add_size)(text, length, sizes, error)) {
            return -1;
        }
        if (text[length] == '\0') {
            return 0;
        }
        text += length + 1;
    }
}
