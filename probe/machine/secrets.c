/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "machine/secrets.h"

#include "base/lists.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONG_WORD = 32, MIXED = 8 };

/** Anywhere in a name, in letters of either case. */
static const char *const telling[] = {
    "secret", "token",  "passw",   "passphrase", "credential",
    "cookie", "bearer", "authkey", "private",    "signature",
};

/** A whole word of a name; words are parted by underscores and the like. */
static const char *const telling_words[] = {"auth", "keys", "pass", "pwd"};

/** Words in "key" that are no secrets: those of InfiniBand. */
static const char *const harmless[] = {"pkey", "qkey", "lkey", "rkey", "mkey"};

/** How a value gives itself away, anywhere in it. */
static const char *const telling_values[] = {
    "-----BEGIN", "password=", "passwd=", "secret=", "token=",  "apikey=",
    "api_key=",   "Bearer ",   "ghp_",    "glpat-",  "eyJhbGc",
};

static bool holds(const char *text, size_t length, const char *word)
{
    size_t own = strlen(word);
    for (size_t k = 0; k + own <= length; k++) {
        if (strncasecmp(text + k, word, own) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_one_of(const char *word, size_t length, const char *const *list,
                      size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (strlen(list[k]) == length &&
            strncasecmp(word, list[k], length) == 0) {
            return true;
        }
    }
    return false;
}

static bool secret_word(const char *word, size_t length)
{
    if (is_one_of(word, length, telling_words, ISO_LENGTH(telling_words))) {
        return true;
    }
    return length >= 3 && strncasecmp(word + length - 3, "key", 3) == 0 &&
           !is_one_of(word, length, harmless, ISO_LENGTH(harmless));
}

bool iso_secret_name(const char *name, size_t length)
{
    for (size_t k = 0; k < ISO_LENGTH(telling); k++) {
        if (holds(name, length, telling[k])) {
            return true;
        }
    }
    for (size_t k = 0; k < length;) {
        size_t end = k;
        while (end < length && isalnum((unsigned char)name[end])) {
            end++;
        }
        if (secret_word(name + k, end - k)) {
            return true;
        }
        k = end + 1;
    }
    return false;
}

/** "://", then user:password@ before the next blank. */
static bool address_with_password(const char *value)
{
    for (const char *p = strstr(value, "://"); p; p = strstr(p + 3, "://")) {
        size_t length = strcspn(p + 3, " \t\n\"'");
        const char *at = memchr(p + 3, '@', length);
        if (at && memchr(p + 3, ':', (at - p - 3))) {
            return true;
        }
    }
    return false;
}

/** 32 digits and letters or more without a gap, mixed as by chance: a mask of
 *  processors has few different ones. */
static bool random_word(const char *word, size_t length)
{
    bool digit = false, upper = false, lower = false, hexadecimal = true;
    int different = 0;
    for (size_t k = 0; k < length; k++) {
        unsigned char c = (unsigned char)word[k];
        different += memchr(word, c, k) == NULL;
        digit = digit || isdigit(c);
        upper = upper || isupper(c);
        lower = lower || islower(c);
        hexadecimal = hexadecimal && (isxdigit(c) || c == '-');
    }
    return length >= LONG_WORD && different >= MIXED && digit &&
           (hexadecimal || (upper && lower));
}

bool iso_secret_value(const char *value)
{
    size_t whole = strlen(value);
    for (size_t k = 0; k < ISO_LENGTH(telling_values); k++) {
        if (holds(value, whole, telling_values[k])) {
            return true;
        }
    }
    for (size_t k = 0; k < whole;) {
        size_t length = strspn(value + k, "ABCDEFGHIJKLMNOPQRSTUVWXYZ+_-="
                                          "abcdefghijklmnopqrstuvwxyz"
                                          "0123456789");
        if (random_word(value + k, length)) {
            return true;
        }
        k += length + 1;
    }
    return address_with_password(value);
}
