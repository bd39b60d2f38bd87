/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tuning_table.c
 * What the library that is loaded into programs makes of a tuning table.
 *
 *     tuning_table name TEXT     name and version of a library's own words
 *     tuning_table read FILE     "rules N", then of each rule what it saves at
 *                                its smallest and largest block; or the error
 *     tuning_table damage FILE   read it cut at every byte, and with every byte
 *                                changed in eight ways: ends if nothing crashes
 */
#include "interposer/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *contents(const char *path, size_t *length)
{
    char *text = malloc(ISO_TABLE_MAX_BYTES);
    FILE *file = fopen(path, "rb");
    *length = text && file ? fread(text, 1, ISO_TABLE_MAX_BYTES, file) : 0;
    if (file) {
        fclose(file);
    }
    return text;
}

static int read_text(const char *text, size_t length, int aloud)
{
    iso_table_t table;
    char error[ISO_TABLE_ERROR];
    char *copy = malloc(length + !length); /* so that its end is watched */
    memcpy(copy, text, length);
    int bad = iso_table_read(copy, length, &table, error);
    free(copy);
    if (bad) {
        if (aloud) {
            printf("%s\n", error);
        }
        return 1;
    }
    if (aloud) {
        printf("rules %d\n", table.count);
    }
    for (int k = 0; aloud && k < table.count; k++) {
        const iso_rule_t *rule = &table.rules[k];
        printf("%s %.9g %.9g\n", iso_tunable_names[rule->operation],
               iso_rule_saving(rule, (double)rule->low),
               iso_rule_saving(rule, (double)rule->high));
    }
    iso_table_free(&table);
    return 0;
}

static void damage(char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        read_text(text, k, 0);
        for (int bit = 0; bit < 8; bit++) {
            text[k] = (char)(text[k] ^ 1 << bit);
            read_text(text, length, 0);
            text[k] = (char)(text[k] ^ 1 << bit);
        }
    }
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
        code = read_text(text, length, 1);
    } else {
        damage(text, length);
    }
    free(text);
    return code;
}
