/* SPDX-License-Identifier: BSD-3-Clause */
#include "interposer/table.h"

#include "base/checksum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const iso_tunable_names[ISO_TUNABLES] = {
    "bcast",     "gather",    "scatter",  "reduce",
    "allreduce", "allgather", "alltoall", "reduce_scatter_block"};

bool iso_tunable_reduces(iso_tunable_t operation)
{
    return operation == ISO_REDUCE || operation == ISO_ALLREDUCE ||
           operation == ISO_REDUCE_SCATTER_BLOCK;
}

const char *iso_table_check(const iso_table_t *table, size_t length)
{
    static const char magic[sizeof table->magic] = "isochrone-tuning 1\n";
    if (length < sizeof *table || memcmp(table->magic, magic, 17) != 0) {
        return "not compiled: use isochrone exec";
    }
    if (memcmp(table->magic, magic, sizeof magic) != 0) {
        return "compiled by another version of isochrone";
    }
    if (iso_crc32(table->first, length - offsetof(iso_table_t, first)) !=
        table->sum) {
        return "damaged";
    }
    return NULL;
}

/** Value at @a bytes on the line through two points, in logarithms. */
static double drawn(double bytes, double b0, double v0, double b1, double v1)
{
    double x0 = log(b0 + 1), x1 = log(b1 + 1), x = log(bytes + 1);
    return exp(log(v0) + (log(v1) - log(v0)) * (x - x0) / (x1 - x0));
}

double iso_rule_saving(const iso_table_t *table, const iso_rule_t *rule,
                       double bytes)
{
    const iso_gain_t *at =
        (const iso_gain_t *)&table->rules[table->first[ISO_TUNABLES]] +
        rule->first;
    const iso_gain_t *last = at + rule->count - 1;
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
        const char *number = word + (*word == 'v');
        ended = *number >= '0' && *number <= '9'; /* a version: 4 or v5 */
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
