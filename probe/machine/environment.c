/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "machine/environment.h"

#include "base/lists.h"
#include "machine/settings.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/** Copy what follows the blanks, without the end of the line. */
static void copy_line(char *line, size_t room, const char *text)
{
    text += strspn(text, " \t");
    snprintf(line, room, "%.*s", (int)strcspn(text, "\r\n"), text);
}

/** Return what follows "key :" in a line of /proc/cpuinfo; NULL if it is of
 *  another key. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0) {
        return NULL;
    }
    line += length + strspn(line + length, " \t");
    return *line == ':' ? line + 1 : NULL;
}

/**
 * The model of the first processor. Only the first lines are read: the kernel
 * makes up this file while it is read, and it is long. On ARM a model has no
 * name, but numbers.
 */
static void find_processor(char *model, size_t room)
{
    static const char *const named[] = {"model name", "cpu", "cpu model"};
    char line[256], maker[32] = "";
    FILE *stream = fopen("/proc/cpuinfo", "r");
    while (stream && model[0] == '\0' && fgets(line, sizeof(line), stream)) {
        const char *value;
        for (size_t k = 0; k < ISO_LENGTH(named); k++) {
            if ((value = value_of(line, named[k]))) {
                copy_line(model, room, value);
            }
        }
        if ((value = value_of(line, "CPU implementer"))) {
            copy_line(maker, sizeof(maker), value);
        } else if (maker[0] && (value = value_of(line, "CPU part"))) {
            char part[32];
            copy_line(part, sizeof(part), value);
            snprintf(model, room, "ARM implementer %s part %s", maker, part);
        }
    }
    if (stream) {
        fclose(stream);
    }
}

void iso_environment_line(const char *path, char *line, size_t room)
{
    char text[256];
    FILE *stream = fopen(path, "r");
    line[0] = '\0';
    if (stream && fgets(text, sizeof(text), stream)) {
        copy_line(line, room, text);
    }
    if (stream) {
        fclose(stream);
    }
}

static int count_numa(void)
{
    int count = 0;
    DIR *folder = opendir("/sys/devices/system/node");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        count +=
            strncmp(name, "node", 4) == 0 && isdigit((unsigned char)name[4]);
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

iso_environment_t iso_environment_find(int cpu)
{
    iso_environment_t found = {.numa = count_numa()};
    struct utsname system;
    char path[128];
    if (uname(&system) == 0) {
        copy_line(found.kernel, sizeof(found.kernel), system.release);
    }
    find_processor(found.processor, sizeof(found.processor));
    snprintf(path, sizeof(path),
             "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    iso_environment_line(path, found.governor, sizeof(found.governor));
    return found;
}

static uint32_t sum(const char *text)
{
    return iso_sum(ISO_SUM, text, strlen(text));
}

void iso_environment_sums(const iso_environment_t *around, uint32_t *sums)
{
    iso_settings_t settings;
    iso_settings_find(&settings);
    sums[ISO_SETTINGS] = iso_settings_sum(&settings);
    sums[ISO_KERNEL] = sum(around->kernel);
    sums[ISO_PROCESSOR] = sum(around->processor);
    sums[ISO_GOVERNOR] = sum(around->governor);
    sums[ISO_NUMA] = (uint32_t)around->numa;
}
