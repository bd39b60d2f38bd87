/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "base/check.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>
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

/** Return how many bytes the character at @a text has; 0 if it is no UTF-8. */
static size_t character(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    size_t more = first < 0x80   ? 0
                  : first < 0xc2 ? SIZE_MAX
                  : first < 0xe0 ? 1
                  : first < 0xf0 ? 2
                  : first < 0xf5 ? 3
                                 : SIZE_MAX;
    for (size_t k = 1; more != SIZE_MAX && k <= more; k++) {
        if (((unsigned char)text[k] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return more + 1;
}

/** Whether a character of @a length bytes is printable: no control character,
 * zero width or change of direction. */
static int is_shown(const char *text, size_t length)
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
        size_t bytes = character(at);
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
    (void)comm;
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
