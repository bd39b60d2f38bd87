/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/words.h"

#include "base/check.h"
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/** Characters of a wrong word that are repeated, and of a number. */
enum { SHOWN = 40, DIGITS = 64 };

int iso_words_fail(const iso_words_t *words, const char *format, ...)
{
    char what[ISO_ERROR_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    snprintf(words->error, ISO_ERROR_LENGTH, "%.100s:%ld: %.140s", words->file,
             words->line, what);
    return -1;
}

static void skip_blanks(iso_words_t *words)
{
    while (words->at < words->end && *words->at == ' ') {
        words->at++;
    }
}

size_t iso_words_take(iso_words_t *words, const char **word)
{
    skip_blanks(words);
    *word = words->at;
    while (words->at < words->end && *words->at != ' ') {
        words->at++;
    }
    return (size_t)(words->at - *word);
}

bool iso_words_over(iso_words_t *words)
{
    skip_blanks(words);
    return words->at == words->end;
}

static int shown(size_t length)
{
    return (int)(length < SHOWN ? length : SHOWN);
}

int iso_words_close(iso_words_t *words)
{
    const char *word;
    size_t length = iso_words_take(words, &word);
    return length ? iso_words_fail(words, "'%.*s' is one word too many",
                                   shown(length), word)
                  : 0;
}

bool iso_words_same(const char *word, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(word, wanted, length) == 0;
}

/** Copy a word that may be a number; "" if it cannot be one. */
static size_t number_word(iso_words_t *words, const char *allowed, char *text,
                          const char **word)
{
    size_t length = iso_words_take(words, word);
    bool good = length > 0 && length < DIGITS;
    for (size_t k = 0; good && k < length; k++) {
        good = (*word)[k] != '\0' && strchr(allowed, (*word)[k]) != NULL;
    }
    memcpy(text, *word, good ? length : 0);
    text[good ? length : 0] = '\0';
    return length;
}

int iso_words_count(iso_words_t *words, const char *what, long least, long most,
                    long *value)
{
    char text[DIGITS], *end = text;
    const char *word;
    size_t length = number_word(words, "0123456789", text, &word);
    errno = 0;
    *value = strtol(text, &end, 10);
    if (end == text || *end || errno || *value < least || *value > most) {
        return iso_words_fail(
            words, "%s is '%.*s', not a whole number from %ld to %ld", what,
            shown(length), word, least, most);
    }
    return 0;
}

int iso_words_int(iso_words_t *words, const char *what, long least, long most,
                  int *value)
{
    long found = 0;
    if (iso_words_count(words, what, least, most, &found)) {
        return -1;
    }
    *value = (int)found;
    return 0;
}

int iso_words_number(iso_words_t *words, const char *what, double most,
                     double *value)
{
    char text[DIGITS], *end = text;
    const char *word;
    size_t length = number_word(words, "0123456789.eE+-", text, &word);
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= 0 && *value <= most)) {
        return iso_words_fail(words, "%s is '%.*s', not a number from 0 to %g",
                              what, shown(length), word, most);
    }
    return 0;
}

int iso_words_choice(iso_words_t *words, const char *what,
                     const char *const choices[], int *value)
{
    const char *word;
    size_t length = iso_words_take(words, &word);
    for (int k = 0; choices[k]; k++) {
        if (iso_words_same(word, length, choices[k])) {
            *value = k;
            return 0;
        }
    }
    return iso_words_fail(words, "there is no %s '%.*s'", what, shown(length),
                          word);
}

int iso_words_copy(iso_words_t *words, const char *what, size_t most,
                   char **copy)
{
    const char *word;
    size_t length = iso_words_take(words, &word);
    if (length == 0 || length > most) {
        return iso_words_fail(words, "%s has 1 to %zu characters, not %zu",
                              what, most, length);
    }
    *copy = iso_calloc(length + 1, 1);
    memcpy(*copy, word, length);
    return 0;
}
