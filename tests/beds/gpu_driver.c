/* SPDX-License-Identifier: BSD-3-Clause */
/* A driver of GPUs that has none: their memory is host memory. For tests of
 * what is done with a GPU, where there is none.
 *
 * It has the functions of CUDA, HIP, Level Zero and NVML that the probe uses.
 * A pointer to GPU memory leads to pages that nobody may read or write; the
 * data are in other pages, which only the copies of the driver touch. So plain
 * use of such a pointer ends the process. A copy between other kinds of memory
 * than its function is for is refused, as all before a GPU was chosen.
 *
 *     GPU_DRIVER_GPUS=N     how many there are (2)
 *     GPU_DRIVER_SLOW=G     GPU whose copies take a millisecond longer
 *     GPU_DRIVER_WRONG=1    copies to a GPU have one wrong byte
 *     GPU_DRIVER_LOG=FILE   what each process copied is appended at its end
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { INVALID = 1, NO_MEMORY = 2, NO_CONTEXT = 201, MOST = 256 };

static struct region {
    char *gpu, *data;
    size_t bytes;
} regions[MOST];

static int chosen = -1;
static long copies[2];
static long long copied[2];

static long setting(const char *name, long usual)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : usual;
}

static int gpus(void)
{
    return (int)setting("GPU_DRIVER_GPUS", 2);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("GPU_DRIVER_LOG");
    FILE *log = path && chosen >= 0 ? fopen(path, "a") : NULL;
    if (log) {
        fprintf(log, "%d %ld %lld %ld %lld\n", chosen, copies[0], copied[0],
                copies[1], copied[1]);
        fclose(log);
    }
}

static struct region *region_of(const void *pointer)
{
    for (int k = 0; k < MOST; k++) {
        const char *at = pointer;
        if (regions[k].gpu && at >= regions[k].gpu &&
            at < regions[k].gpu + regions[k].bytes) {
            return &regions[k];
        }
    }
    return NULL;
}

/** Where the data are: what a GPU-aware library knows. */
void *gpu_driver_data(const void *pointer)
{
    struct region *region = region_of(pointer);
    return region ? region->data + ((const char *)pointer - region->gpu)
                  : (void *)pointer;
}

/* --- what all drivers do ------------------------------------------------- */

static int allocate(void **memory, size_t bytes)
{
    for (int k = 0; k < MOST && chosen >= 0 && bytes > 0; k++) {
        if (regions[k].gpu == NULL) {
            int both = MAP_PRIVATE | MAP_ANONYMOUS;
            *memory = mmap(NULL, bytes, PROT_NONE, both, -1, 0);
            regions[k] = (struct region){*memory, NULL, bytes};
            regions[k].data =
                mmap(NULL, bytes, PROT_READ | PROT_WRITE, both, -1, 0);
            return 0;
        }
    }
    return chosen < 0 ? NO_CONTEXT : NO_MEMORY;
}

static int release(const void *memory)
{
    struct region *region = region_of(memory);
    if (region == NULL || region->gpu != memory) {
        return INVALID;
    }
    munmap(region->gpu, region->bytes);
    munmap(region->data, region->bytes);
    region->gpu = NULL;
    return 0;
}

static int copy(void *to, const void *from, size_t bytes, int to_gpu)
{
    struct region *region = region_of(to_gpu ? to : from);
    const void *host = to_gpu ? from : to;
    const char *gpu = to_gpu ? to : from;
    if (chosen < 0) {
        return NO_CONTEXT;
    }
    if (region == NULL || region_of(host) ||
        gpu + bytes > region->gpu + region->bytes) {
        return INVALID;
    }
    memcpy(gpu_driver_data(to), gpu_driver_data(from), bytes);
    if (to_gpu && setting("GPU_DRIVER_WRONG", 0) && bytes > 0) {
        *((char *)gpu_driver_data(to) + bytes / 2) ^= 1;
    }
    if (chosen == setting("GPU_DRIVER_SLOW", -1)) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    copies[to_gpu]++;
    copied[to_gpu] += (long long)bytes;
    return 0;
}

static int choose(int gpu)
{
    chosen = gpu >= 0 && gpu < gpus() ? gpu : -1;
    return chosen < 0 ? INVALID : 0;
}

/** Two GPUs of a board each have a link; the others reach each other through
 *  the host. */
static int linked(int gpu, int other)
{
    return gpu / 2 == other / 2;
}

static int address_of(char *text, int room, int gpu)
{
    snprintf(text, (size_t)room, "0000:%02X:00.0", 0xa0 + gpu);
    return gpu < gpus() ? 0 : INVALID;
}

/* --- CUDA, and NVML ------------------------------------------------------ */

int cuInit(unsigned flags)
{
    return flags ? INVALID : 0;
}

int cuDeviceGetCount(int *count)
{
    *count = gpus();
    return 0;
}

int cuDeviceGetPCIBusId(char *text, int room, int gpu)
{
    return address_of(text, room, gpu);
}

int cuDeviceCanAccessPeer(int *access, int gpu, int other)
{
    *access = linked(gpu, other);
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int gpu)
{
    *context = (void *)(uintptr_t)(gpu + 1);
    return gpu < gpus() ? 0 : INVALID;
}

int cuCtxSetCurrent(void *context)
{
    return choose((int)(uintptr_t)context - 1);
}

int cuCtxSynchronize(void)
{
    return chosen < 0 ? NO_CONTEXT : 0;
}

int cuMemAlloc_v2(void **memory, size_t bytes)
{
    return allocate(memory, bytes);
}

int cuMemFree_v2(void *memory)
{
    return release(memory);
}

int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, 1);
}

int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, 0);
}

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *text, void **handle)
{
    unsigned bus = 0;
    int error = sscanf(text, "0000:%x:", &bus) != 1;
    *handle = (void *)(uintptr_t)bus;
    return error;
}

int nvmlDeviceGetP2PStatus(void *gpu, void *other, int capability, int *status)
{
    *status = !linked((int)(uintptr_t)gpu, (int)(uintptr_t)other);
    return capability == 2 ? 0 : INVALID;
}

/* --- HIP ----------------------------------------------------------------- */

int hipInit(unsigned flags)
{
    return cuInit(flags);
}

int hipGetDeviceCount(int *count)
{
    return cuDeviceGetCount(count);
}

int hipDeviceGetPCIBusId(char *text, int room, int gpu)
{
    return address_of(text, room, gpu);
}

int hipDeviceCanAccessPeer(int *access, int gpu, int other)
{
    return cuDeviceCanAccessPeer(access, gpu, other);
}

int hipExtGetLinkTypeAndHopCount(int gpu, int other, uint32_t *type,
                                 uint32_t *hops)
{
    *type = linked(gpu, other) ? 4 : 2;
    *hops = 1;
    return 0;
}

int hipSetDevice(int gpu)
{
    return choose(gpu);
}

int hipDeviceSynchronize(void)
{
    return cuCtxSynchronize();
}

int hipMalloc(void **memory, size_t bytes)
{
    return allocate(memory, bytes);
}

int hipFree(void *memory)
{
    return release(memory);
}

int hipMemcpyHtoD(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, 1);
}

int hipMemcpyDtoH(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, 0);
}

/* --- Level Zero ---------------------------------------------------------- */

struct desc {
    uint32_t type;
    const void *next;
    uint32_t flags, more[6];
};

int zeInit(uint32_t flags)
{
    return flags == 1 ? 0 : INVALID;
}

int zeDriverGet(uint32_t *count, void **drivers)
{
    if (*count > 0) {
        drivers[0] = regions;
    }
    *count = 1;
    return 0;
}

int zeDeviceGet(void *driver, uint32_t *count, void **devices)
{
    *count = *count && (int)*count < gpus() ? *count : (uint32_t)gpus();
    for (uint32_t k = 0; devices && k < *count; k++) {
        devices[k] = (void *)(uintptr_t)(k + 1);
    }
    return driver == regions ? 0 : INVALID;
}

int zeContextCreate(void *driver, const struct desc *desc, void **context)
{
    *context = copies;
    return driver == regions && desc->type == 0xd ? 0 : INVALID;
}

int zeCommandListCreateImmediate(void *context, void *device,
                                 const struct desc *desc, void **list)
{
    *list = copied;
    if (context != copies || desc->type != 0xe || desc->more[2] != 1) {
        return INVALID;
    }
    return choose((int)(uintptr_t)device - 1);
}

int zeCommandListAppendMemoryCopy(void *list, void *to, const void *from,
                                  size_t bytes, void *signal, uint32_t waits,
                                  void **wait)
{
    int plain = signal == NULL && waits == 0 && wait == NULL;
    return list == copied && plain
               ? copy(to, from, bytes, region_of(to) != NULL)
               : INVALID;
}

int zeMemAllocDevice(void *context, const struct desc *desc, size_t bytes,
                     size_t alignment, void *device, void **memory)
{
    int right = context == copies && desc->type == 0x15 && alignment == 0 &&
                (int)(uintptr_t)device - 1 == chosen;
    return right ? allocate(memory, bytes) : INVALID;
}

int zeMemFree(void *context, void *memory)
{
    return context == copies ? release(memory) : INVALID;
}

int zeDevicePciGetPropertiesExt(void *device, struct desc *properties)
{
    properties->flags = 0; /* the domain */
    properties->more[0] = 0xa0 + (uint32_t)(uintptr_t)device - 1;
    properties->more[1] = properties->more[2] = 0;
    return properties->type == 0x10008 ? 0 : INVALID;
}

int zeDeviceCanAccessPeer(void *device, void *other, uint8_t *access)
{
    *access =
        (uint8_t)linked((int)(uintptr_t)device - 1, (int)(uintptr_t)other - 1);
    return 0;
}
