/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file table_use.c
 * What is asked of a tuning table that was read: savings, and for which MPI.
 */
#include "interposer/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/** Value at @a bytes on the line through two points, in logarithms. */
static double drawn(double bytes, double b0, double v0, double b1, double v1)
{
    double x0 = log(b0 + 1), x1 = log(b1 + 1), x = log(bytes + 1);
    return exp(log(v0) + (log(v1) - log(v0)) * (x - x0) / (x1 - x0));
}

double iso_rule_saving(const iso_rule_t *rule, double bytes)
{
    const iso_gain_t *at = rule->points, *last = at + rule->count - 1;
    if (at == last) {
        return at->library - at->grid;
    }
    while (at + 1 < last && bytes > at[1].bytes) {
        at++;
    }
    double b0 = at->bytes, b1 = at[1].bytes;
    return drawn(bytes, b0, at->library, b1, at[1].library) -
           drawn(bytes, b0, at->grid, b1, at[1].grid);
}

/** Whether a word begins with a number, or with v and one. */
static bool is_version(const char *word)
{
    word += *word == 'v';
    return *word >= '0' && *word <= '9';
}

void iso_mpi_name(const char *library, char *name)
{
    static const char blanks[] = " \t\r\n\v\f";
    size_t length = 0;
    for (bool ended = false; !ended;) {
        const char *word = library + strspn(library, blanks);
        size_t size = strcspn(word, blanks);
        library = word + size;
        if (size == 0) {
            break;
        }
        ended = is_version(word);
        while (size && strchr(",:", word[size - 1])) {
            size--;
        }
        if (size == 0 || (size == 7 && strncasecmp(word, "version", 7) == 0)) {
            continue;
        }
        int put = snprintf(name + length, ISO_MPI_NAME - length, "%s%.*s",
                           length ? " " : "", (int)size, word);
        length += (size_t)put;
        if (length >= ISO_MPI_NAME) {
            break;
        }
    }
    name[length < ISO_MPI_NAME ? length : ISO_MPI_NAME - 1] = '\0';
}
