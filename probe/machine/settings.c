/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "machine/settings.h"

#include "base/lists.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- secrets ----------------------------------------------------------- */

/*
 * Detects secrets (passwords, tokens, keys) in environment variables, so that
 * run files can be shared. In doubt a value is omitted.
 */

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

/** Whether a variable of this name is meant to hold a secret. */
static bool iso_secret_name(const char *name, size_t length)
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

/** Whether a value looks like one: an address with a password, a private key,
 *  a long random word. */
static bool iso_secret_value(const char *value)
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

extern char **environ;

enum { LONGEST_NAME = 128 };

/** How a setting begins. */
static const char *const families[] = {
    "UCX_",       "FI_",    "OMPI_MCA_", "PMIX_MCA_",
    "MPIR_CVAR_", "MPICH_", "I_MPI_",    "SLURM_MPI_TYPE=",
};

/**
 * Variables that launchers and MPI_Init set by themselves: MPICH 4.0 and 5.0,
 * Open MPI 4.1 and 5.0, Intel MPI 2021.18. NAME=VALUE where only that value is
 * their own; an asterisk at the end stands for anything.
 */
static const char *const launchers_own[] = {
    "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=*",
    /* Open MPI: the job, and messages between its daemons */
    "OMPI_MCA_PREFIXES=*",
    "OMPI_MCA_cpu_type=*",
    "OMPI_MCA_ess=*",
    "OMPI_MCA_ess_*",
    "OMPI_MCA_hwloc_base_binding_policy=none", /* under srun */
    "OMPI_MCA_initial_wdir=*",
    "OMPI_MCA_mpi_oversubscribe=*",
    "OMPI_MCA_num_procs=*",
    "OMPI_MCA_orte_*",
    "OMPI_MCA_pmix=^s1,s2,cray,isolated",
    "OMPI_MCA_rmaps_*", /* positions of ranks are in the run file */
    "OMPI_MCA_shmem_RUNTIME_QUERY_hint=*",
    "PMIX_MCA_mca_base_component_show_load_errors=1",
    "PMIX_MCA_psec=native",
    /* Intel MPI: what it found out about the machine, and its defaults */
    "I_MPI_BIND_WIN_ALLOCATE=localalloc",
    "I_MPI_HYDRA_*",
    "I_MPI_INFO_*",
    "I_MPI_INTERNAL_MEM_POLICY=default",
    "I_MPI_MPIRUN=*",
    "I_MPI_PIN_INFO=*",
    "I_MPI_PIN_MAPPING=*",
    "I_MPI_RETURN_WIN_MEM_NUMA=-1",
    "I_MPI_ROOT=*", /* where it lies, not how it is set */
};

static bool fits(const char *text, const char *pattern)
{
    size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*') {
        return strncmp(text, pattern, length - 1) == 0;
    }
    return strcmp(text, pattern) == 0;
}

static bool steers(const char *text)
{
    bool found = false;
    for (size_t k = 0; k < ISO_LENGTH(families); k++) {
        found = found || strncmp(text, families[k], strlen(families[k])) == 0;
    }
    size_t count = ISO_LENGTH(launchers_own);
    for (size_t k = 0; found && k < count; k++) {
        found = !fits(text, launchers_own[k]);
    }
    return found;
}

/** Length of the name if it can be one that a library reads, else 0. */
static size_t name_length(const char *text)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-."
                                 "abcdefghijklmnopqrstuvwxyz0123456789");
    return text[length] == '=' && length <= LONGEST_NAME ? length : 0;
}

static int by_name(const void *a, const void *b)
{
    const iso_setting_t *one = a, *other = b;
    size_t shorter = one->name < other->name ? one->name : other->name;
    int order = memcmp(one->text, other->text, shorter);
    return order ? order
                 : (one->name > other->name) - (one->name < other->name);
}

/** Whether getenv finds another before this one. */
static bool hidden(const iso_settings_t *settings, const iso_setting_t *one)
{
    bool found = false;
    for (int k = 0; k < settings->count; k++) {
        found = found || by_name(&settings->one[k], one) == 0;
    }
    return found;
}

void iso_settings_find(iso_settings_t *settings)
{
    settings->count = settings->more = 0;
    for (char **next = environ; next && *next; next++) {
        iso_setting_t one = {.text = *next, .name = name_length(*next)};
        if (one.name == 0 || !steers(*next) || hidden(settings, &one)) {
            continue;
        }
        if (settings->count == ISO_SETTINGS_MOST) {
            settings->more++;
            continue;
        }
        one.secret = iso_secret_name(one.text, one.name) ||
                     iso_secret_value(one.text + one.name + 1);
        settings->one[settings->count++] = one;
    }
    qsort(settings->one, settings->count, sizeof(iso_setting_t), by_name);
}

void iso_setting_value(const iso_setting_t *setting, char *text)
{
    const char *value = setting->text + setting->name + 1;
    size_t length = strlen(value), kept = length;
    if (length > ISO_SETTING_LONGEST) {
        kept = ISO_SETTING_LONGEST;
        while (kept > 0 && ((unsigned char)value[kept] & 0xc0) == 0x80) {
            kept--; /* not within a character */
        }
    }
    memcpy(text, value, kept);
    text[kept] = '\0';
    if (kept < length) {
        sprintf(text + kept, "... (%zu bytes, checksum %08x)", length,
                (unsigned)iso_sum(ISO_SUM, value, length));
    }
}

uint32_t iso_sum(uint32_t sum, const char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        sum = (sum ^ (unsigned char)text[k]) * 16777619u;
    }
    return sum;
}

uint32_t iso_settings_sum(const iso_settings_t *settings)
{
    uint32_t sum = ISO_SUM;
    for (int k = 0; k < settings->count; k++) {
        const iso_setting_t *one = &settings->one[k];
        size_t length = one->secret ? one->name : strlen(one->text);
        sum = iso_sum(sum, one->text, length + 1); /* and what ends it */
    }
    return sum;
}
