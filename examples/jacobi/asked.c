/* SPDX-License-Identifier: BSD-3-Clause */
#include "asked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asked asked = {.n = 512, .iterations = 100, .repeats = 1};

const char usage[] =
    "usage: jacobi [--n N] [--iterations N] [--variant row|column] "
    "[--repeats N] [--grid R1xR2] [--check] [--t-op SECONDS]";

/** Read a count from 1. @return 0, or -1 */
static int read_count(const char *text, long *value)
{
    char *end;
    *value = strtol(text, &end, 10);
    return *end == '\0' && *value >= 1 && *value <= 1 << 20 ? 0 : -1;
}

static int read_variant(const char *text)
{
    asked.columns = strcmp(text, "column") == 0;
    return asked.columns || strcmp(text, "row") == 0 ? 0 : -1;
}

static int read_grid(const char *text)
{
    char after;
    int read = sscanf(text, "%dx%d%c", &asked.rows_of_grid,
                      &asked.columns_of_grid, &after);
    return read == 2 && asked.rows_of_grid > 0 && asked.columns_of_grid > 0
               ? 0
               : -1;
}

static int read_t_op(const char *text)
{
    char *end;
    asked.t_op = strtod(text, &end);
    return *end == '\0' && asked.t_op >= 0 && isfinite(asked.t_op) ? 0 : -1;
}

static int read_option(const char *name, const char *value)
{
    return strcmp(name, "--n") == 0 ? read_count(value, &asked.n)
           : strcmp(name, "--iterations") == 0
               ? read_count(value, &asked.iterations)
           : strcmp(name, "--repeats") == 0 ? read_count(value, &asked.repeats)
           : strcmp(name, "--variant") == 0 ? read_variant(value)
           : strcmp(name, "--grid") == 0    ? read_grid(value)
           : strcmp(name, "--t-op") == 0    ? read_t_op(value)
                                            : -1;
}

int asked_read(int argc, char **argv)
{
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--check") == 0) {
            asked.check = 1;
        } else if (k + 1 == argc || read_option(argv[k], argv[k + 1])) {
            return -1;
        } else {
            k++;
        }
    }
    return 0;
}
