/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file program_check.c
 * Read program files as rank 0 and as every other rank does, and say what is
 * wrong with each: a line a file, "ok" if nothing is.
 */
#include "experiments/app/program.h"
#include "experiments/app/tally.h"

#include "base/options.h"

#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path, size_t *length)
{
    FILE *stream = fopen(path, "rb");
    char *text = NULL;
    *length = 0;
    for (size_t got = 1; stream && got > 0; *length += got) {
        text = realloc(text, *length + 4096);
        got = text ? fread(text + *length, 1, 4096, stream) : 0;
    }
    if (stream == NULL || text == NULL || fclose(stream) != 0) {
        perror(path);
        exit(1);
    }
    /* Exactly as long as it is, so that reading beyond it is seen. */
    return *length ? realloc(text, *length) : text;
}

static void check(const char *path)
{
    char error[ISO_ERROR_LENGTH] = "";
    iso_program_t program;
    iso_tally_t tally = {0};
    size_t length;
    char *text = read_file(path, &length);
    iso_program_text_t whole = {"F", text, length, 0, 1};
    int wrong = iso_program_parse(&program, &whole, &tally, error);
    puts(wrong ? error : "ok");
    iso_program_free(&program);
    free(tally.items);
    free(text);
}

int main(int argc, char **argv)
{
    for (int k = 1; k < argc; k++) {
        check(argv[k]);
    }
    return 0;
}
