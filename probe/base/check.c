/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "base/check.h"

#include <stdarg.h>
#include <time.h>

/** The cause is often another rank that was killed: give its watchdog
 * (machine/watchdog.h) time to report it. A launcher that aborts may also
 * discard output written just before. */
static const struct timespec others_first = {.tv_sec = 0, .tv_nsec = 300000000};

void iso_end_all(int code)
{
    fflush(stderr);
    nanosleep(&others_first, NULL);
    MPI_Abort(MPI_COMM_WORLD, code);
    abort();
}

/*
 * The rows are those of table 3-7, "Well-Formed UTF-8 Byte Sequences", of the
 * Unicode Standard.
 */
int iso_character_length(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    static const struct {
        unsigned char first, last;     /* of the first byte */
        unsigned char lowest, highest; /* of the second; all others 80..BF */
        int length;
    } rows[] = {
        {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t k = 0; k < ISO_LENGTH(rows); k++) {
        if (bytes[0] < rows[k].first || bytes[0] > rows[k].last) {
            continue;
        }
        int length = 1;
        while (length < rows[k].length) {
            int lowest = length == 1 ? rows[k].lowest : 0x80;
            int highest = length == 1 ? rows[k].highest : 0xbf;
            if (bytes[length] < lowest || bytes[length] > highest) {
                return 0; /* the end of the text, too: it is a 0 */
            }
            length++;
        }
        return length;
    }
    return 0;
}

/** Whether a character of @a length bytes is printable: no control character,
 * zero width or change of direction. */
static int is_shown(const char *text, int length)
{
    const unsigned char *c = (const unsigned char *)text;
    switch (length) {
    case 1:
        return c[0] >= 0x20 && c[0] != 0x7f;
    case 2: /* U+0080 to U+009F, U+00AD; U+061C */
        return !(c[0] == 0xc2 && (c[1] < 0xa0 || c[1] == 0xad)) &&
               !(c[0] == 0xd8 && c[1] == 0x9c);
    case 3: /* U+200B to U+200F, U+2028 to U+202E; U+2060 to U+206F; U+FEFF */
        return !(c[0] == 0xe2 && c[1] == 0x80 &&
                 ((c[2] >= 0x8b && c[2] <= 0x8f) ||
                  (c[2] >= 0xa8 && c[2] <= 0xae))) &&
               !(c[0] == 0xe2 && c[1] == 0x81 && c[2] >= 0xa0 &&
                 c[2] <= 0xaf) &&
               !(c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf);
    default:
        return length > 0;
    }
}

void iso_complain(const char *format, ...)
{
    char text[4096], line[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    size_t length = 0;
    for (const char *at = text; *at != '\0';) {
        int bytes = iso_character_length(at);
        if (is_shown(at, bytes)) {
            memcpy(line + length, at, bytes);
            length += bytes;
        } else {
            line[length++] = '?';
        }
        at += bytes > 0 ? bytes : 1;
    }
    fprintf(stderr, "isochrone-probe: %.*s\n", (int)length, line);
}

static void fail(MPI_Comm *comm, int *error, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(*error, text, &length);
    iso_complain("%s", text);
    iso_end_all(ISO_EXIT_FAILED);
}

void iso_check_begin(void)
{
    MPI_Errhandler handler;
    MPI_CHECK(MPI_Comm_create_errhandler(fail, &handler));
    MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    MPI_CHECK(MPI_Errhandler_free(&handler));
}
