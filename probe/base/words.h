/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file words.h
 * Words of a list such as "bcast,reduce", which are not terminated.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

/**
 * The next word of a list with commas; NULL at its end.
 *
 * @param rest    what of the list is not read yet
 * @param length  receives the characters of the word
 */
static inline const char *iso_words_next(const char **rest, size_t *length)
{
    const char *word = *rest;
    if (word) {
        *length = strcspn(word, ",");
        *rest = word[*length] ? word + *length + 1 : NULL;
    }
    return word;
}

/** Whether the first @a length characters of @a word are this name. */
static inline bool iso_word_is(const char *word, size_t length,
                               const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}
