/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "runfile/record.h"

#include "base/check.h"
#include "machine/heartbeat.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

int iso_record_open(iso_record_t *record, const char *path, bool force)
{
    record->separator = false;
    if (path == NULL || strcmp(path, "-") == 0) {
        record->stream = stdout;
        return 0;
    }
    /* A file that another command still writes is unlinked, not truncated.
     * Append mode preserves the record that the supervisor adds at the end. */
    struct stat there;
    bool is_link = lstat(path, &there) == 0 && S_ISLNK(there.st_mode);
    if (is_link && stat(path, &there) == 0 && S_ISREG(there.st_mode)) {
        errno = EEXIST; /* two measurements in the file it leads to are none */
        return -1;
    }
    bool is_file = lstat(path, &there) == 0 && S_ISREG(there.st_mode);
    if (force && is_file && unlink(path) != 0) {
        return -1;
    }
    bool anew = !force || is_file;
    record->stream = fopen(path, anew ? "ax" : "a");
    return record->stream ? 0 : -1;
}

static void put_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    while (*text) {
        unsigned char c = *text;
        int length = iso_character_length(text);
        if (length == 0) {
            fputs("\\ufffd", stream); /* the replacement character */
        } else if (c == '"' || c == '\\') {
            fprintf(stream, "\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            fprintf(stream, "\\u%04x", c);
        } else {
            fwrite(text, 1, length, stream);
        }
        text += length ? length : 1;
    }
    fputc('"', stream);
}

static void put_key(iso_record_t *record, const char *key)
{
    if (record->separator) {
        fputc(',', record->stream);
    }
    put_string(record->stream, key);
    fputc(':', record->stream);
    record->separator = true;
}

void iso_record_begin(iso_record_t *record, const char *name)
{
    fputc('{', record->stream);
    record->separator = false;
    iso_record_text(record, "record", name);
}

void iso_record_end(iso_record_t *record)
{
    fputs("}\n", record->stream);
    iso_heartbeat_beat();
}

void iso_record_int(iso_record_t *record, const char *key, long value)
{
    put_key(record, key);
    fprintf(record->stream, "%ld", value);
}

void iso_record_double(iso_record_t *record, const char *key, double value)
{
    if (!isfinite(value)) {
        ISO_FAIL("'%s' is not a finite number", key);
    }
    put_key(record, key);
    fprintf(record->stream, "%.9g", value);
}

/** Write a list as a member; PUT writes the item number k of it. */
#define PUT_LIST(record, key, there, PUT)                                      \
    put_key(record, key);                                                      \
    fputc('[', (record)->stream);                                              \
    for (int k = 0; there; k++) {                                              \
        if (k > 0) {                                                           \
            fputc(',', (record)->stream);                                      \
        }                                                                      \
        PUT;                                                                   \
    }                                                                          \
    fputc(']', (record)->stream)

void iso_record_doubles(iso_record_t *record, const char *key,
                        const double *values, int count)
{
    for (int k = 0; k < count; k++) {
        if (!isfinite(values[k])) {
            ISO_FAIL("'%s' holds what is not a finite number", key);
        }
    }
    PUT_LIST(record, key, k < count,
             fprintf(record->stream, "%.9g", values[k]));
}

void iso_record_bool(iso_record_t *record, const char *key, bool value)
{
    put_key(record, key);
    fputs(value ? "true" : "false", record->stream);
}

void iso_record_text(iso_record_t *record, const char *key, const char *value)
{
    put_key(record, key);
    put_string(record->stream, value);
}

void iso_record_texts(iso_record_t *record, const char *key,
                      const char *const *values)
{
    PUT_LIST(record, key, values[k], put_string(record->stream, values[k]));
}

void iso_record_enter(iso_record_t *record, const char *key)
{
    put_key(record, key);
    fputc('{', record->stream);
    record->separator = false;
}

void iso_record_leave(iso_record_t *record)
{
    fputc('}', record->stream);
    record->separator = true;
}

static void put_counts(iso_record_t *record, const char *key,
                       const iso_counts_t *counts)
{
    PUT_LIST(record, key, k < counts->count,
             fprintf(record->stream, "%d", counts->value[k]));
}

static void put_sizes(iso_record_t *record, const char *key,
                      const iso_sizes_t *sizes)
{
    char range[80];
    if (sizes->automatic) {
        snprintf(range, sizeof(range), "auto:%lld:%lld", sizes->bytes[0],
                 sizes->bytes[1]);
        iso_record_text(record, key, range);
        return;
    }
    PUT_LIST(record, key, k < sizes->count,
             fprintf(record->stream, "%lld", sizes->bytes[k]));
}

void iso_record_options(iso_record_t *record, const iso_option_t *table)
{
    for (const iso_option_t *option = table; option->name; option++) {
        switch (iso_option_kind(option)) {
        case ISO_OPTION_FLAG:
            iso_record_bool(record, option->name, *(bool *)option->value);
            break;
        case ISO_OPTION_COUNT:
            iso_record_int(record, option->name, *(long *)option->value);
            break;
        case ISO_OPTION_NUMBER:
        case ISO_OPTION_PERCENT:
        case ISO_OPTION_SECONDS:
            iso_record_double(record, option->name, *(double *)option->value);
            break;
        case ISO_OPTION_SIZE:
            iso_record_int(record, option->name, *(long long *)option->value);
            break;
        case ISO_OPTION_SIZES:
        case ISO_OPTION_SWEEP:
            put_sizes(record, option->name, option->value);
            break;
        case ISO_OPTION_COUNTS:
            put_counts(record, option->name, option->value);
            break;
        case ISO_OPTION_CHOICE:
        case ISO_OPTION_TEXT:
            if (*(const char **)option->value) {
                iso_record_text(record, option->name,
                                *(const char **)option->value);
            }
            break;
        }
    }
}

void iso_record_warning(iso_record_t *record, const char *code,
                        const char *format, ...)
{
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    iso_record_begin(record, "warning");
    iso_record_text(record, "code", code);
    iso_record_text(record, "text", text);
    iso_record_end(record);
}

void iso_record_wrong_result(iso_record_t *record, const char *format, ...)
{
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    iso_record_warning(record, "wrong-result", "%s", text);
    iso_complain("%s", text);
}

void iso_record_flush(iso_record_t *record)
{
    if (fflush(record->stream) != 0 || ferror(record->stream)) {
        ISO_FAIL("cannot write the run file: %s", strerror(errno));
    }
}

void iso_record_close(iso_record_t *record)
{
    iso_record_flush(record);
    if (record->stream != stdout && fclose(record->stream) != 0) {
        ISO_FAIL("cannot write the run file: %s", strerror(errno));
    }
}
