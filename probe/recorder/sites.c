/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr */
#include "recorder/sites.h"

#include "preload/process.h"
#include "recorder/event.h"
#include "recording/map.h"
#include "recording/memory.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <execinfo.h>
#include <link.h>
#endif

enum {
    MOST_SITES = 4096, /**< different ones; a program has fewer calls of MPI */
    MOST_FRAMES = 16,
};

/** The site of a return address, and of a frame if the address is not enough.
 */
typedef struct {
    iso_key_t key;
    int number;        /**< or ISO_NONE */
    bool in_a_library; /**< the frame decides */
} iso_site_t;

static struct {
    iso_map_t known;
    const void **list; /**< addresses, by number */
    int used, room;
} state[ISO_PROCESSES];
#define OWN (state[iso_process()])

void iso_sites_begin(void)
{
    OWN.known = iso_map(sizeof(iso_site_t));
}

void iso_sites_end(void)
{
    iso_map_free(&OWN.known);
    free(OWN.list);
    OWN.list = NULL;
    OWN.used = OWN.room = 0;
}

/** Whether an address belongs to MPI, to this library, or to no file. */
static bool is_no_program(const void *address)
{
    Dl_info own, info;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return true;
    }
    if (dladdr((const void *)(uintptr_t)iso_sites_number, &own) &&
        own.dli_fbase == info.dli_fbase) {
        return true;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash ? slash + 1 : info.dli_fname;
    return strncmp(name, "libmpi", 6) == 0 ||
           strncmp(name, "libsimgrid", 10) == 0 ||
           strncmp(name, "libpmpi", 7) == 0;
}

/** The innermost frame of the program, or NULL. */
static const void *walked(void)
{
#if defined(__GLIBC__)
    void *frames[MOST_FRAMES];
    int count = backtrace(frames, MOST_FRAMES);
    for (int k = 0; k < count; k++) {
        if (!is_no_program(frames[k])) {
            return frames[k];
        }
    }
#endif
    return NULL;
}

static int number_of(const void *address)
{
    for (int k = 0; k < OWN.used; k++) {
        if (OWN.list[k] == address) {
            return k;
        }
    }
    if (address == NULL || OWN.used == MOST_SITES) {
        return ISO_NONE;
    }
    ISO_GROW(OWN.list, OWN.used, OWN.room);
    OWN.list[OWN.used] = address;
    return OWN.used++;
}

int iso_sites_number(const void *from, const void *frame)
{
    int64_t address = (intptr_t)from, height = (intptr_t)frame;
    iso_site_t *site = iso_map_find(&OWN.known, address, 0, 0);
    if (site == NULL) {
        site = iso_map_get(&OWN.known, address, 0, 0);
        site->in_a_library = is_no_program(from);
        site->number = site->in_a_library ? ISO_NONE : number_of(from);
    }
    if (!site->in_a_library) {
        return site->number;
    }
    site = iso_map_find(&OWN.known, address, height, 0);
    if (site == NULL && OWN.known.count < 2 * MOST_SITES) {
        site = iso_map_get(&OWN.known, address, height, 0);
        site->number = number_of(walked());
    }
    return site ? site->number : ISO_NONE;
}

/** The file of some code; SimGrid loads copies of the program, which it
 * removes: the program is the second word of the command. */
static void name_of(const Dl_info *info, char *path)
{
    if (realpath(info->dli_fname, path)) {
        return;
    }
    snprintf(path, PATH_MAX, "%s", info->dli_fname);
#ifdef SMPI_H
    char words[PATH_MAX + 4096] = "";
    FILE *stream = fopen("/proc/self/cmdline", "r");
    size_t length = stream ? fread(words, 1, sizeof(words) - 1, stream) : 0;
    if (stream) {
        fclose(stream);
    }
    size_t first = strlen(words) + 1;
    char found[PATH_MAX];
    if (first < length && realpath(&words[first], found)) {
        memcpy(path, found, sizeof(found));
    }
#endif
}

/** What is to be subtracted from addresses to find them in the file: 0 of a
 *  program that is always loaded at the same place. */
static intptr_t bias_of(const void *address, Dl_info *info)
{
#if defined(__GLIBC__)
    struct link_map *map = NULL;
    if (dladdr1(address, info, (void **)&map, RTLD_DL_LINKMAP) && map) {
        return (intptr_t)map->l_addr;
    }
#endif
    return dladdr(address, info) ? (intptr_t)info->dli_fbase : 0;
}

void iso_sites_write(iso_record_t *record, int rank)
{
    char path[PATH_MAX];
    for (int k = 0; k < OWN.used; k++) {
        Dl_info info = {0};
        /* the call ends where it returns to: one byte before is in it */
        int64_t inside = (intptr_t)OWN.list[k] - 1;
        int64_t bias = bias_of(OWN.list[k], &info);
        if (info.dli_fname) {
            name_of(&info, path);
            ISO_RECORD(record, "site", ("rank", rank), ("site", k),
                       ("file", path), ("offset", inside - bias));
        }
    }
}
