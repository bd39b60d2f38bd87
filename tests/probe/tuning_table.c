/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tuning_table.c
 * What the library that is loaded into programs makes of a tuning table.
 *
 *     tuning_table name TEXT     name and version of a library's own words
 *     tuning_table read FILE     "rules N", then of each rule its numbers and
 *                                what it saves at its smallest and largest
 *                                block; or the error
 *     tuning_table damage FILE   read it cut at every byte, and with a bit of
 *                                every byte changed: ends with how many of
 *                                these were taken
 */
#include "interposer/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

static char *contents(const char *path, size_t *length)
{
    char *text = malloc(MOST);
    FILE *file = fopen(path, "rb");
    *length = text && file ? fread(text, 1, MOST, file) : 0;
    if (file) {
        fclose(file);
    }
    return text;
}

static const char *check(const char *text, size_t length)
{
    char *copy = malloc(length + !length); /* so that its end is watched */
    memcpy(copy, text, length);
    const char *bad = iso_table_check((iso_table_t *)copy, length);
    free(copy);
    return bad;
}

static int read_text(const char *text, size_t length)
{
    const iso_table_t *table = (const iso_table_t *)text;
    const char *bad = check(text, length);
    if (bad) {
        printf("%s\n", bad);
        return 1;
    }
    printf("rules %d for %s by %s\n", table->first[ISO_TUNABLES], table->mpi,
           table->path);
    for (int op = 0; op < ISO_TUNABLES; op++) {
        for (int k = table->first[op]; k < table->first[op + 1]; k++) {
            const iso_rule_t *rule = &table->rules[k];
            char word[ISO_GRID_WORD];
            iso_grid_word(&rule->grid, word);
            printf("%s %d %d %lld %lld %s %d %.9g %.9g\n",
                   iso_tunable_names[op], rule->ranks, rule->nodes,
                   (long long)rule->low, (long long)rule->high, word,
                   rule->count, iso_rule_saving(table, rule, (double)rule->low),
                   iso_rule_saving(table, rule, (double)rule->high));
        }
    }
    return 0;
}

static int damage(char *text, size_t length)
{
    int taken = 0;
    for (size_t k = 0; k < length; k++) {
        taken += check(text, k) == NULL;
        text[k] = (char)(text[k] ^ 1 << k % 8);
        taken += check(text, length) == NULL;
        text[k] = (char)(text[k] ^ 1 << k % 8);
    }
    printf("%d\n", taken);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    if (strcmp(argv[1], "name") == 0) {
        char name[ISO_MPI_NAME];
        iso_mpi_name(argv[2], name);
        puts(name);
        return 0;
    }
    size_t length;
    char *text = contents(argv[2], &length);
    int code = 0;
    if (strcmp(argv[1], "read") == 0) {
        code = read_text(text, length);
    } else {
        code = damage(text, length);
    }
    free(text);
    return code;
}
