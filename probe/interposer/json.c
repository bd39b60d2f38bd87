/* SPDX-License-Identifier: BSD-3-Clause */
#include "interposer/json.h"

#include <math.h>
#include <string.h>

/** Integers that a double holds exactly. */
static const double MAX_INTEGER = 9007199254740992.0;

iso_json_t iso_json_open(const char *text, size_t length)
{
    return (iso_json_t){.begin = text, .at = text, .end = text + length};
}

void iso_json_fail(iso_json_t *json, const char *error)
{
    if (json->error == NULL) {
        json->error = error;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/** Return the next character that is no blank; 0 at the end. */
static char peek(iso_json_t *json)
{
    while (json->at < json->end && memchr(" \t\r\n", *json->at, 4)) {
        json->at++;
    }
    return json->at < json->end && json->error == NULL ? *json->at : '\0';
}

/** Take the next character, if it is @a wanted. */
static bool take(iso_json_t *json, char wanted)
{
    if (peek(json) != wanted) {
        return false;
    }
    json->at++;
    return true;
}

/** Return the character at hand without passing over blanks; 0 at the end. */
static char here(const iso_json_t *json)
{
    return json->at < json->end ? *json->at : '\0';
}

static void begin(iso_json_t *json, char bracket, const char *error)
{
    if (!take(json, bracket)) {
        iso_json_fail(json, error);
    } else if (++json->depth >= ISO_JSON_DEPTH) {
        iso_json_fail(json, "too deep");
    } else {
        json->empty |= 1U << json->depth;
    }
}

/** Go to what follows in an object or an array; false after its end. */
static bool next(iso_json_t *json, char bracket)
{
    if (json->error) {
        return false;
    }
    bool first = json->empty >> json->depth & 1U;
    json->empty &= ~(1U << json->depth);
    if (take(json, bracket)) {
        json->depth--;
        return false;
    }
    if (!first && !take(json, ',')) {
        iso_json_fail(json, "a comma or the closing bracket is missing");
    }
    return json->error == NULL;
}

void iso_json_object_begin(iso_json_t *json)
{
    begin(json, '{', "expected an object");
}

bool iso_json_member(iso_json_t *json, char *key, size_t size)
{
    if (!next(json, '}')) {
        return false;
    }
    iso_json_string(json, key, size);
    if (!take(json, ':')) {
        iso_json_fail(json, "a colon is missing");
    }
    return json->error == NULL;
}

void iso_json_array_begin(iso_json_t *json)
{
    begin(json, '[', "expected an array");
}

bool iso_json_element(iso_json_t *json)
{
    return next(json, ']');
}

/** Read what follows a backslash; return the character, '?' if not ASCII. */
static char escaped(iso_json_t *json)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/?????";
    char c = here(json);
    const char *found = c ? strchr(names, c) : NULL;
    json->at += json->at < json->end;
    if (found) {
        return values[found - names];
    }
    unsigned value = 0;
    for (int k = 0; k < 4 && c == 'u'; k++) {
        char digit = here(json), lower = (char)(digit | 0x20);
        if (!is_digit(digit) && !(lower >= 'a' && lower <= 'f')) {
            c = '\0';
            break;
        }
        value = 16 * value +
                (unsigned)(is_digit(digit) ? digit - '0' : lower - 'a' + 10);
        json->at++;
    }
    if (c != 'u') {
        iso_json_fail(json, "an unknown escape in a string");
    }
    return value >= ' ' && value < 0x7f ? (char)value : '?';
}

void iso_json_string(iso_json_t *json, char *text, size_t size)
{
    size_t length = 0;
    if (!take(json, '"')) {
        iso_json_fail(json, "expected a string");
    }
    while (json->error == NULL) {
        char c = here(json);
        if (json->at == json->end || (unsigned char)c < ' ') {
            iso_json_fail(json, "a string without an end");
            break;
        }
        json->at++;
        if (c == '"') {
            break;
        }
        if (c == '\\') {
            c = escaped(json);
        } else if ((unsigned char)c >= 0x7f) {
            c = '?';
        }
        if (length + 1 < size) {
            text[length++] = c;
        }
    }
    if (size) {
        text[length] = '\0';
    }
}

/** Read digits, of which there must be one; return their value as a number, and
 *  count them. */
static long double digits(iso_json_t *json, long double value, int *count)
{
    if (!is_digit(here(json))) {
        iso_json_fail(json, "expected a number");
    }
    for (; is_digit(here(json)); json->at++) {
        value = 10 * value + (*json->at - '0');
        ++*count;
    }
    return value;
}

/* Not strtod: the program may have set a locale with a decimal comma. */
double iso_json_number(iso_json_t *json)
{
    int whole = 0, decimals = 0, exponent = 0, unused = 0;
    bool negative = take(json, '-');
    bool zero = negative ? here(json) == '0' : peek(json) == '0';
    long double value = digits(json, 0, &whole);
    if (zero && whole > 1) {
        iso_json_fail(json, "a number that begins with 0");
    }
    if (here(json) == '.') {
        json->at++;
        value = digits(json, value, &decimals);
    }
    if ((here(json) | 0x20) == 'e') {
        json->at++;
        bool down = here(json) == '-';
        json->at += down || here(json) == '+';
        exponent = (int)fminl(digits(json, 0, &unused), 100000);
        exponent = down ? -exponent : exponent;
    }
    value *= powl(10, (long double)exponent - decimals);
    return json->error ? 0 : (double)(negative ? -value : value);
}

long long iso_json_integer(iso_json_t *json)
{
    double value = iso_json_number(json);
    if (!(value >= 0 && value <= MAX_INTEGER && value == floor(value))) {
        iso_json_fail(json, "expected an integer of 0 or more");
        return 0;
    }
    return (long long)value;
}

static void skip_word(iso_json_t *json, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(json->end - json->at) < length ||
        memcmp(json->at, word, length) != 0) {
        iso_json_fail(json, "not a value");
        return;
    }
    json->at += length;
}

bool iso_json_null(iso_json_t *json)
{
    if (peek(json) != 'n') {
        return false;
    }
    skip_word(json, "null");
    return true;
}

/* Recursion ends with ISO_JSON_DEPTH. */
void iso_json_skip(iso_json_t *json)
{
    switch (peek(json)) {
    case '{':
        iso_json_object_begin(json);
        while (iso_json_member(json, NULL, 0)) {
            iso_json_skip(json);
        }
        break;
    case '[':
        iso_json_array_begin(json);
        while (iso_json_element(json)) {
            iso_json_skip(json);
        }
        break;
    case '"':
        iso_json_string(json, NULL, 0);
        break;
    case 't':
        skip_word(json, "true");
        break;
    case 'f':
        skip_word(json, "false");
        break;
    case 'n':
        skip_word(json, "null");
        break;
    default:
        iso_json_number(json);
    }
}

bool iso_json_end(iso_json_t *json)
{
    peek(json);
    if (json->at < json->end) {
        iso_json_fail(json, "something follows its end");
    }
    return json->error == NULL;
}
