/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file level_zero.c
 * Level Zero, with the functions of iso_gpu_calls_t. Structures and numbers are
 * those of the specification 1.0 (ze_api.h).
 */
#include "base/check.h"
#include "machine/gpu.h"

#include <stdint.h>

enum {
    CONTEXT_DESC = 0xd,
    COMMAND_QUEUE_DESC = 0xe,
    DEVICE_MEM_ALLOC_DESC = 0x15,
    PCI_EXT_PROPERTIES = 0x10008,
    SYNCHRONOUS = 1, /* mode of a command queue */
    GPU_ONLY = 1,    /* flag of zeInit */
    MOST = 64,       /* GPUs */
    MISSING = -1,
};

struct context {
    uint32_t type;
    const void *next;
    uint32_t flags;
};

struct queue {
    uint32_t type;
    const void *next;
    uint32_t ordinal, index, flags, mode, priority;
};

struct allocation {
    uint32_t type;
    const void *next;
    uint32_t flags, ordinal;
};

struct pci {
    uint32_t type;
    void *next;
    uint32_t domain, bus, device, function;
    int32_t generation, width;
    int64_t bandwidth;
};

static struct {
    int (*begin)(uint32_t flags);
    int (*drivers)(uint32_t *count, void **drivers);
    int (*devices)(void *driver, uint32_t *count, void **devices);
    int (*context)(void *driver, const struct context *desc, void **context);
    int (*commands)(void *context, void *device, const struct queue *desc,
                    void **commands);
    int (*copy)(void *commands, void *to, const void *from, size_t bytes,
                void *signal, uint32_t waits, void **wait);
    int (*allocate)(void *context, const struct allocation *desc, size_t bytes,
                    size_t alignment, void *device, void **memory);
    int (*release)(void *context, void *memory);
    int (*pci)(void *device, struct pci *properties);
    int (*peer)(void *device, void *other, uint8_t *access);
} ze;

static const char *const names[] = {"zeInit",
                                    "zeDriverGet",
                                    "zeDeviceGet",
                                    "zeContextCreate",
                                    "zeCommandListCreateImmediate",
                                    "zeCommandListAppendMemoryCopy",
                                    "zeMemAllocDevice",
                                    "zeMemFree",
                                    "zeDevicePciGetPropertiesExt",
                                    "zeDeviceCanAccessPeer"};

static void *context, *commands, *chosen, *devices[MOST];

static int begin(unsigned flags)
{
    return ze.begin(flags | GPU_ONLY);
}

/** The GPUs of the first driver that has any. */
static int count(int *gpus)
{
    uint32_t drivers = 0, number = 0;
    void *driver[MOST];
    int error = ze.drivers(&drivers, NULL);
    drivers = drivers < MOST ? drivers : MOST;
    error = error ? error : ze.drivers(&drivers, driver);
    for (uint32_t k = 0; error == 0 && number == 0 && k < drivers; k++) {
        struct context desc = {.type = CONTEXT_DESC};
        number = MOST;
        error = ze.devices(driver[k], &number, devices);
        if (error == 0 && number > 0) {
            error = ze.context(driver[k], &desc, &context);
        }
    }
    *gpus = (int)number;
    return error;
}

static int choose(int gpu)
{
    struct queue desc = {.type = COMMAND_QUEUE_DESC, .mode = SYNCHRONOUS};
    chosen = devices[gpu];
    return ze.commands(context, chosen, &desc, &commands);
}

static int pci(char *address, int room, int gpu)
{
    struct pci p = {.type = PCI_EXT_PROPERTIES};
    int error = ze.pci(devices[gpu], &p);
    snprintf(address, (size_t)room, "%04x:%02x:%02x.%x", p.domain, p.bus,
             p.device, p.function);
    return error;
}

static int peer(int *access, int gpu, int other)
{
    uint8_t given = 0;
    int error = ze.peer(devices[gpu], devices[other], &given);
    *access = given;
    return error;
}

static int allocate(void **memory, size_t bytes)
{
    struct allocation desc = {.type = DEVICE_MEM_ALLOC_DESC};
    return ze.allocate(context, &desc, bytes, 0, chosen, memory);
}

static int release(void *memory)
{
    return ze.release(context, memory);
}

/** A copy in either direction; it is complete on return (SYNCHRONOUS). */
static int copy(void *to, const void *from, size_t bytes)
{
    return ze.copy(commands, to, from, bytes, NULL, 0, NULL);
}

static int settle(void)
{
    return 0;
}

static const char *link_to(int gpu, int other)
{
    return NULL;
}

bool iso_level_zero_find(void *library, iso_gpu_calls_t *calls)
{
    if (!iso_gpu_find(library, names, ISO_LENGTH(names), &ze)) {
        return false;
    }
    *calls = (iso_gpu_calls_t){begin, count, pci,    peer,   allocate, release,
                               copy,  copy,  settle, choose, link_to};
    return true;
}
