/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "machine/gpu.h"

#include "base/check.h"
#include "base/words.h"
#include "machine/environment.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>

/* --- CUDA and HIP, whose functions are alike ----------------------------- */

/** The first members of iso_gpu_calls_t, in their order. */
static const char *const cuda_names[] = {"cuInit",
                                         "cuDeviceGetCount",
                                         "cuDeviceGetPCIBusId",
                                         "cuDeviceCanAccessPeer",
                                         "cuMemAlloc_v2",
                                         "cuMemFree_v2",
                                         "cuMemcpyHtoD_v2",
                                         "cuMemcpyDtoH_v2",
                                         "cuCtxSynchronize"};
static const char *const rocm_names[] = {"hipInit",
                                         "hipGetDeviceCount",
                                         "hipDeviceGetPCIBusId",
                                         "hipDeviceCanAccessPeer",
                                         "hipMalloc",
                                         "hipFree",
                                         "hipMemcpyHtoD",
                                         "hipMemcpyDtoH",
                                         "hipDeviceSynchronize"};

enum { ALIKE = ISO_LENGTH(cuda_names) };

static struct {
    int (*retain)(void **context, int gpu);
    int (*enter)(void *context);
    int (*pci)(char *address, int room, int gpu);
    int (*set_device)(int gpu);
    int (*link)(int gpu, int other, uint32_t *type, uint32_t *hops);
    int (*handle)(const char *address, void **handle);
    int (*peer_status)(void *gpu, void *other, int capability, int *status);
} found;

/** Store the address of a function. @return whether there is one */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

bool iso_gpu_find(void *library, const char *const names[], size_t count,
                  void *functions)
{
    bool all = true;
    for (size_t k = 0; k < count; k++) {
        all = find(library, names[k], (char *)functions + k * sizeof(void *)) &&
              all;
    }
    return all;
}

static int choose_cuda(int gpu)
{
    void *context;
    int error = found.retain(&context, gpu);
    return error ? error : found.enter(context);
}

/** The management library knows what a link is; the driver does not. */
static const char *link_of_cuda(int gpu, int other)
{
    enum { NVLINK = 2, OK = 0 };
    char address[2][ISO_GPU_ADDRESS] = {"", ""};
    void *handle[2];
    int status;
    if (found.peer_status == NULL) {
        return NULL;
    }
    found.pci(address[0], ISO_GPU_ADDRESS, gpu);
    found.pci(address[1], ISO_GPU_ADDRESS, other);
    if (found.handle(address[0], &handle[0]) ||
        found.handle(address[1], &handle[1]) ||
        found.peer_status(handle[0], handle[1], NVLINK, &status)) {
        return NULL;
    }
    return status == OK ? "nvlink" : "pcie";
}

static bool find_cuda(void *library, iso_gpu_calls_t *calls)
{
    int (*begin)(void);
    void *management = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!iso_gpu_find(library, cuda_names, ALIKE, calls) ||
        !find(library, "cuDevicePrimaryCtxRetain", &found.retain) ||
        !find(library, "cuCtxSetCurrent", &found.enter)) {
        return false;
    }
    if (management == NULL || !find(management, "nvmlInit_v2", &begin) ||
        begin() != 0 ||
        !find(management, "nvmlDeviceGetHandleByPciBusId_v2", &found.handle) ||
        !find(management, "nvmlDeviceGetP2PStatus", &found.peer_status)) {
        found.peer_status = NULL;
    }
    found.pci = calls->pci;
    calls->choose = choose_cuda;
    calls->link = link_of_cuda;
    return true;
}

static const char *link_of_rocm(int gpu, int other)
{
    enum { PCIE = 2, XGMI = 4 }; /* of hsa_amd_link_info_type_t */
    uint32_t type = 0, hops = 0;
    if (found.link == NULL || found.link(gpu, other, &type, &hops)) {
        return NULL;
    }
    return type == XGMI ? "xgmi" : type == PCIE ? "pcie" : NULL;
}

static bool find_rocm(void *library, iso_gpu_calls_t *calls)
{
    find(library, "hipExtGetLinkTypeAndHopCount", &found.link);
    calls->link = link_of_rocm;
    return iso_gpu_find(library, rocm_names, ALIKE, calls) &&
           find(library, "hipSetDevice", &calls->choose);
}

const iso_gpu_driver_t iso_gpu_drivers[] = {
    {"cuda", "cuda", "libcuda.so.1", {"MPIX_Query_cuda_support"}, 0, find_cuda},
    {"rocm",
     "rocm",
     "libamdhip64.so",
     {"MPIX_Query_rocm_support", "MPIX_Query_hip_support"},
     2,
     find_rocm},
    {"level-zero",
     "level_zero",
     "libze_loader.so.1",
     {"MPIX_Query_ze_support"},
     1,
     iso_level_zero_find},
    {0},
};

/* --- one GPU ------------------------------------------------------------- */

/** NUMA node of a PCI device; -1 if not known. */
static int numa_of(const char *address)
{
    char path[64], line[16];
    int numa = -1;
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", address);
    iso_environment_line(path, line, sizeof(line));
    sscanf(line, "%d", &numa);
    return numa;
}

/** The address as Linux writes it: in lower case. */
static void find_address(const iso_gpu_calls_t *calls, int gpu, char *address)
{
    if (calls->pci(address, ISO_GPU_ADDRESS, gpu)) {
        address[0] = '\0';
    }
    for (; *address; address++) {
        *address = (char)tolower((unsigned char)*address);
    }
}

iso_gpu_t iso_gpu_describe(const iso_gpu_calls_t *calls, int gpu, int gpus)
{
    iso_gpu_t described = {.number = gpu};
    find_address(calls, gpu, described.address);
    described.numa = numa_of(described.address);
    for (int k = 0; k < gpus && described.links < ISO_GPU_LINKS; k++) {
        int access = 0;
        if (k == gpu) {
            continue;
        }
        bool direct = calls->peer(&access, gpu, k) == 0 && access;
        const char *link = direct ? calls->link(gpu, k) : "host";
        find_address(calls, k, described.other[described.links].address);
        snprintf(described.other[described.links++].link, ISO_GPU_LINK, "%s",
                 link ? link : "peer");
    }
    return described;
}

/* --- the MPI library ----------------------------------------------------- */

/** Whether the kinds of memory that MPI lists (MPI 4.1, 12.4.3) hold one:
 *  1 or 0; -1 if it lists none. */
static int listed(const char *kind)
{
    int there = 0;
    char kinds[MPI_MAX_INFO_VAL] = "";
    MPI_Info info = MPI_INFO_NULL;
    MPI_CHECK(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
    MPI_CHECK(MPI_Info_get(info, "mpi_memory_alloc_kinds", sizeof(kinds) - 1,
                           kinds, &there));
    MPI_CHECK(MPI_Info_free(&info));
    for (char *word = kinds; there && *word; word += *word == ',') {
        size_t length = strcspn(word, ":,");
        if (iso_word_is(word, length, kind)) {
            return 1;
        }
        word += strcspn(word, ",");
    }
    return there ? 0 : -1;
}

const char *iso_gpu_aware(const iso_gpu_driver_t *driver)
{
    int aware = listed(driver->kind), says;
    int (*query)(void);
    int (*query_mpich)(int kind, int *aware);
    for (int k = 0; driver->queries[k]; k++) {
        if (find(RTLD_DEFAULT, driver->queries[k], &query)) {
            says = query() != 0;
            aware = says > aware ? says : aware;
        }
    }
    if (aware < 0 &&
        find(RTLD_DEFAULT, "MPIX_GPU_query_support", &query_mpich) &&
        query_mpich(driver->mpich, &says) == MPI_SUCCESS) {
        aware = says != 0;
    }
    return aware < 0 ? "unknown" : aware ? "yes" : "no";
}
