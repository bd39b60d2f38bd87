/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file words.h
 * A line of text from elsewhere, word by word, with every number checked.
 *
 * Functions return 0, or -1 after writing "FILE:LINE: what" into the error
 * text (ISO_ERROR_LENGTH bytes).
 */
#ifndef ISO_APP_WORDS_H
#define ISO_APP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct iso_words {
    const char *file; /**< as the user named it */
    long line;        /**< from 1 */
    const char *at;   /**< what is left of the line ... */
    const char *end;  /**< ... up to here */
    char *error;
} iso_words_t;

/** Complain. @return -1 */
__attribute__((format(printf, 2, 3))) int
iso_words_fail(const iso_words_t *words, const char *format, ...);

/** Take the next word. @return its length, 0 at the end of the line */
size_t iso_words_take(iso_words_t *words, const char **word);

/** Whether the line has ended. */
bool iso_words_over(iso_words_t *words);

/** Complain if the line has not ended. */
int iso_words_close(iso_words_t *words);

/** Whether a word of this length is @a wanted. */
bool iso_words_same(const char *word, size_t length, const char *wanted);

/** Take a whole number from @a least to @a most. */
int iso_words_count(iso_words_t *words, const char *what, long least, long most,
                    long *value);

/** The same as an int. */
int iso_words_int(iso_words_t *words, const char *what, long least, long most,
                  int *value);

/** Take a number from 0 to @a most. */
int iso_words_number(iso_words_t *words, const char *what, double most,
                     double *value);

/** Take one of the words of a NULL-terminated list; *value is its index. */
int iso_words_choice(iso_words_t *words, const char *what,
                     const char *const choices[], int *value);

/** Take a word, as a copy to be freed. */
int iso_words_copy(iso_words_t *words, const char *what, size_t most,
                   char **copy);

#endif
