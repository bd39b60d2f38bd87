/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* sched_getcpu */
#include "machine/host.h"

#include "base/check.h"
#include "machine/own_collectives.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

enum { MAX_NUMA = 1024, MAX_CACHES = 16 };

/** Read a number from a file below a CPU's folder in /sys; -1 if absent. */
static int cpu_number(int cpu, const char *file)
{
    char path[128], line[64];
    int value = -1;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
    iso_environment_line(path, line, sizeof(line));
    sscanf(line, "%d", &value);
    return value;
}

/** Whether a cache of a CPU holds data; index as Linux counts its caches. */
static bool holds_data(int cpu, int index)
{
    char path[128], type[16]; /* Data, Instruction or Unified */
    snprintf(path, sizeof(path),
             "/sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
    iso_environment_line(path, type, sizeof(type));
    return type[0] == 'D' || type[0] == 'U';
}

/** Lowest CPU that shares the data cache of a level with a CPU; -1 if not
 *  known. */
static int cpu_sharing_cache(int cpu, int level)
{
    char file[64];
    for (int index = 0; index < MAX_CACHES; index++) {
        snprintf(file, sizeof(file), "cache/index%d/level", index);
        if (cpu_number(cpu, file) == level && holds_data(cpu, index)) {
            snprintf(file, sizeof(file), "cache/index%d/shared_cpu_list",
                     index);
            return cpu_number(cpu, file); /* the list is ascending */
        }
    }
    return -1;
}

/** NUMA node of a CPU: its folder holds a link named after it. */
static int cpu_numa(int cpu)
{
    char path[128];
    for (int numa = 0; numa < MAX_NUMA; numa++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/node%d",
                 cpu, numa);
        if (access(path, F_OK) == 0) {
            return numa;
        }
    }
    return -1;
}

static void find_place(iso_place_t *place, bool simulated)
{
    int length = 0;
    memset(place, 0, sizeof(*place));
    MPI_CHECK(MPI_Get_processor_name(place->host, &length));
    place->cpu = place->core = place->package = place->numa = -1;
    place->l2 = place->l3 = place->cpus = -1;
#ifdef __linux__
    if (!simulated && (place->cpu = sched_getcpu()) >= 0) {
        place->core = cpu_number(place->cpu, "topology/core_id");
        place->package = cpu_number(place->cpu, "topology/physical_package_id");
        place->numa = cpu_numa(place->cpu);
        place->l2 = cpu_sharing_cache(place->cpu, 2);
        place->l3 = cpu_sharing_cache(place->cpu, 3);
        place->cpus = sysconf(_SC_NPROCESSORS_ONLN);
        iso_environment_t around = iso_environment_find(place->cpu);
        iso_environment_sums(&around, place->around);
        memcpy(place->processor, around.processor, sizeof(place->processor));
    }
#endif
}

static void number_nodes(iso_place_t *places, int size)
{
    int nodes = 0;
    int *leader = ISO_NEW(int, size);
    for (int r = 0; r < size; r++) {
        int node = 0;
        while (node < nodes &&
               strcmp(places[leader[node]].host, places[r].host) != 0) {
            node++;
        }
        if (node == nodes) {
            leader[nodes++] = r;
        }
        places[r].node = node;
    }
    free(leader);
}

iso_place_t *iso_host_gather(MPI_Comm comm, bool simulated)
{
    int rank, size;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Comm_size(comm, &size));
    iso_place_t mine, *places = NULL;
    find_place(&mine, simulated);
    if (rank == 0) {
        places = ISO_NEW(iso_place_t, size);
    }
    iso_plain_gather(comm, &mine, sizeof(mine), places);
    if (places) {
        number_nodes(places, size);
    }
    return places;
}

int iso_host_allowed(void)
{
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        return CPU_COUNT(&allowed);
    }
#endif
    return 0;
}

iso_location_t iso_host_locate(int node, bool simulated)
{
    iso_location_t location = {.node = node, .cpu = -1, .movable = 0};
#ifdef __linux__
    if (!simulated) {
        location.cpu = sched_getcpu();
        location.movable = iso_host_allowed() != 1;
    }
#endif
    return location;
}

/** Leave a processor for any other that is allowed. */
static void leave_processor(int cpu)
{
#ifdef __linux__
    cpu_set_t allowed, others;
    if (cpu < CPU_SETSIZE &&
        sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        others = allowed;
        CPU_CLR(cpu, &others);
        if (sched_setaffinity(0, sizeof(others), &others) == 0) {
            sched_setaffinity(0, sizeof(allowed), &allowed);
        }
    }
#endif
}

iso_location_t iso_host_avoid(int node, bool simulated,
                              const iso_location_t *other)
{
    iso_location_t location = iso_host_locate(node, simulated);
    if (location.movable && iso_host_same_cpu(&location, other)) {
        leave_processor(location.cpu);
        location = iso_host_locate(node, simulated);
    }
    return location;
}

bool iso_host_same_cpu(const iso_location_t *a, const iso_location_t *b)
{
    return a->node == b->node && a->cpu == b->cpu && a->cpu >= 0;
}

double iso_host_memory(void)
{
    double pages = sysconf(_SC_PHYS_PAGES);
    double bytes = pages * sysconf(_SC_PAGESIZE);
    FILE *stream = fopen("/proc/meminfo", "r");
    char line[128];
    while (stream && fgets(line, sizeof(line), stream)) {
        double kib;
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1) {
            bytes = 1024 * kib;
            break;
        }
    }
    if (stream) {
        fclose(stream);
    }
    return bytes > 0 ? bytes : HUGE_VAL;
}
