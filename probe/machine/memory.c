/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/memory.h"

#include "base/check.h"
#include "base/words.h"
#include "machine/own_collectives.h"

#include <dlfcn.h>

static struct {
    const char *memory, *gpus, *staging;
} options;

const iso_option_t iso_memory_options[] = {
    {"memory", ISO_OPTION_TEXT, "MEMORY[,MEMORY]", "host",
     "memory of messages: host, or of a GPU: cuda, rocm, level-zero; or two: "
     "sent from, received into",
     &options.memory},
    {"gpu", ISO_OPTION_TEXT | ISO_EXPERT, "N,...", NULL,
     "GPU of each rank of a node in turn, such as 0,0,1,1 (default: 0,1,2,...)",
     &options.gpus},
    {"staging", ISO_OPTION_CHOICE | ISO_EXPERT, "auto|always|never", "auto",
     "copy messages between GPU and host memory outside MPI: if MPI is not "
     "GPU-aware (auto), always, or never",
     &options.staging},
    {0},
};

enum { ENDS = 2 };

/** Of this process. */
static struct {
    const iso_gpu_driver_t *driver; /**< NULL: host memory at both ends */
    bool of_gpu[ENDS], staged;
    char needs_mpi[64]; /**< option that excludes staging; "": none */
    iso_gpu_calls_t calls;
    iso_gpu_t gpu;
} here;

bool iso_memory_on_gpu(void)
{
    return here.driver != NULL;
}

void iso_memory_needs_mpi(const char *option, const char *value)
{
    snprintf(here.needs_mpi, sizeof(here.needs_mpi), "%s %s", option, value);
}

bool iso_memory_staged(void)
{
    return here.staged;
}

/* --- the options --------------------------------------------------------- */

/** Take the memory of an end. @return whether the word is understood */
static bool take_memory(const char *word, size_t length, bool *of_gpu)
{
    const iso_gpu_driver_t *driver = iso_gpu_drivers;
    *of_gpu = false;
    if (iso_word_is(word, length, "host")) {
        return true;
    }
    while (driver->name && !iso_word_is(word, length, driver->name)) {
        driver++;
    }
    if (driver->name == NULL || (here.driver && here.driver != driver)) {
        return false;
    }
    here.driver = driver;
    *of_gpu = true;
    return true;
}

/** The entry of --gpu for a rank of a node. @return -1: it is no list */
static long listed_gpu(int local)
{
    long number[64], count = 0;
    const char *rest = options.gpus;
    for (;; rest++) {
        size_t digits = strspn(rest, "0123456789");
        if (digits == 0 || digits > 6 || count == (long)ISO_LENGTH(number)) {
            return -1;
        }
        number[count++] = strtol(rest, NULL, 10);
        rest += digits;
        if (*rest == '\0') {
            return number[local % count];
        }
        if (*rest != ',') {
            return -1;
        }
    }
}

int iso_memory_check(char *error)
{
    const char *first = options.memory ? options.memory : "host";
    size_t length = strcspn(first, ",");
    bool two = first[length] == ',';
    const char *second = two ? first + length + 1 : first;
    here.driver = NULL;
    here.needs_mpi[0] = '\0';
    if (!take_memory(first, length, &here.of_gpu[ISO_SENT]) ||
        !take_memory(second, two ? strlen(second) : length,
                     &here.of_gpu[ISO_RECEIVED])) {
        return ISO_REFUSE(error,
                          "--memory is '%.40s', not host, cuda, rocm or "
                          "level-zero, or host and one of them such as "
                          "cuda,host",
                          first);
    }
    if (options.gpus && listed_gpu(0) < 0) {
        return ISO_REFUSE(error,
                          "--gpu is '%.40s', not a list of at most 64 numbers "
                          "such as 0,0,1,1",
                          options.gpus);
    }
    return 0;
}

/* --- the driver ---------------------------------------------------------- */

/** Call the driver, or end all ranks. */
#define GPU_CHECK(call)                                                        \
    do {                                                                       \
        int gpu_error_ = here.calls.call;                                      \
        if (gpu_error_ != 0) {                                                 \
            ISO_FAIL("%s: %s is error %d of the driver", here.driver->library, \
                     #call, gpu_error_);                                       \
        }                                                                      \
    } while (0)

static int choose_gpu(int local, char *error)
{
    int gpus = 0;
    if (here.calls.begin(0) || here.calls.count(&gpus) || gpus == 0) {
        return ISO_REFUSE(error,
                          "--memory %s: %s has no GPU; give the job one, or "
                          "--memory host",
                          here.driver->name, here.driver->library);
    }
    long number = options.gpus ? listed_gpu(local) : local % gpus;
    if (number >= gpus) {
        return ISO_REFUSE(error,
                          "--gpu: there is no GPU %ld (they are 0 to %d)",
                          number, gpus - 1);
    }
    GPU_CHECK(choose((int)number));
    here.gpu = iso_gpu_describe(&here.calls, (int)number, gpus);
    return 0;
}

int iso_memory_begin(int local, char *error)
{
    if (here.driver == NULL) {
        return 0;
    }
    void *library = dlopen(here.driver->library, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return ISO_REFUSE(error,
                          "--memory %s: %.160s; install the driver of the GPU, "
                          "or give --memory host",
                          here.driver->name, dlerror());
    }
    if (!here.driver->find(library, &here.calls)) {
        return ISO_REFUSE(error,
                          "--memory %s: %s lacks functions; install a newer "
                          "driver, or give --memory host",
                          here.driver->name, here.driver->library);
    }
    bool aware = strcmp(iso_gpu_aware(here.driver), "yes") == 0;
    here.staged = strcmp(options.staging, "auto") == 0
                      ? !aware
                      : strcmp(options.staging, "always") == 0;
    if (here.staged && here.needs_mpi[0]) {
        return ISO_REFUSE(error,
                          "%s: messages cannot be copied between GPU and "
                          "host memory outside of MPI; give --memory host, or "
                          "use a GPU-aware MPI",
                          here.needs_mpi);
    }
    return choose_gpu(local, error);
}

iso_memory_t iso_memory_gather(MPI_Comm comm, bool simulated)
{
    iso_memory_t memory = {.text = "host", .staged = here.staged};
    int rank, size;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Comm_size(comm, &size));
    for (int k = 0; !simulated && iso_gpu_drivers[k].name; k++) {
        memory.kinds[k].driver = iso_gpu_drivers[k].name;
        memory.kinds[k].aware = iso_gpu_aware(&iso_gpu_drivers[k]);
    }
    if (here.driver) {
        snprintf(memory.text, sizeof(memory.text), "%s%s", options.memory,
                 here.staged ? " (staged)" : "");
        memory.gpus = rank == 0 ? ISO_NEW(iso_gpu_t, size) : NULL;
        iso_plain_gather(comm, &here.gpu, sizeof(here.gpu), memory.gpus);
    }
    return memory;
}

void iso_memory_forget(iso_memory_t *memory)
{
    free(memory->gpus);
}

/* --- buffers ------------------------------------------------------------- */

/** Copy numbers to the GPU and back: that must be right before anything is
 *  timed or compared. The buffer is 0 afterwards. */
static void try_copies(const iso_buffer_t *buffer, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++) {
        buffer->image[k] = (char)(k % 251);
    }
    iso_buffer_write(buffer, 0, bytes);
    memset(buffer->image, 0, bytes);
    iso_buffer_read(buffer, 0, bytes);
    for (size_t k = 0; k < bytes; k++) {
        if (buffer->image[k] != (char)(k % 251)) {
            ISO_FAIL("%s copies wrong data: byte %zu of %zu differs",
                     here.driver->library, k, bytes);
        }
    }
    memset(buffer->image, 0, bytes);
    iso_buffer_write(buffer, 0, bytes);
}

iso_buffer_t iso_buffer_create(size_t bytes, iso_memory_end_t end)
{
    iso_buffer_t buffer = {.image = iso_calloc(bytes, 1)};
    buffer.at = buffer.image;
    if (here.of_gpu[end]) {
        void *memory = NULL;
        GPU_CHECK(allocate(&memory, bytes ? bytes : 1));
        buffer.at = memory;
        try_copies(&buffer, bytes);
    }
    return buffer;
}

void iso_buffer_touch(const iso_buffer_t *buffer, size_t bytes)
{
    memset(buffer->image, 1, bytes);
    iso_buffer_write(buffer, 0, bytes);
}

void iso_buffer_free(iso_buffer_t *buffer)
{
    if (buffer->at != buffer->image) {
        GPU_CHECK(release(buffer->at));
    }
    free(buffer->image);
}

void iso_buffer_write(const iso_buffer_t *buffer, size_t first, size_t bytes)
{
    if (buffer->at != buffer->image && bytes > 0) {
        GPU_CHECK(write(buffer->at + first, buffer->image + first, bytes));
        GPU_CHECK(settle());
    }
}

void iso_buffer_read(const iso_buffer_t *buffer, size_t first, size_t bytes)
{
    if (buffer->at != buffer->image && bytes > 0) {
        GPU_CHECK(read(buffer->image + first, buffer->at + first, bytes));
    }
}
