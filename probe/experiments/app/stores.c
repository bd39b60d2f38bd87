/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "experiments/app/stores.h"

#include "base/check.h"
#include "experiments/app/remote.h"
#include "machine/own_collectives.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/** Tags beyond those of phases. */
enum { TAG_FREE = 16384, TAG_PLACE = 24576 };

enum { LINE = 128, BLOCK = 4096 }; /* places do not share these */

/** Storage shared by the phases of one method and path. */
typedef struct {
    iso_method_t method;
    bool opened; /**< here: not one that an earlier phase has opened */
    int fd;
    MPI_File file;
} iso_store_t;

struct iso_stores {
    iso_store_t *phases; /**< of each phase; opened once for each path */
    MPI_Comm node;
    MPI_Win window;
    bool shares;    /**< there is a window, as long as nothing is simulated */
    MPI_Win remote; /**< of all ranks; MPI_WIN_NULL: no phase puts or gets */
};

static iso_method_t method_of(const iso_executor_t *executor,
                              const iso_channel_t *channel)
{
    return executor->own->phases[channel->phase].method;
}

static _Noreturn void refuse(const char *path, const char *why)
{
    iso_complain("%s: %s (use a new file name, on a file system that all ranks "
                 "of the phase share)",
                 path, why);
    iso_end_all(ISO_EXIT_USAGE);
}

/* --- files --------------------------------------------------------------- */

static void open_posix(iso_executor_t *executor, const char *path,
                       iso_store_t *store)
{
    bool makes = executor->rank == 0;
    int flags = O_RDWR | O_CLOEXEC | (makes ? O_CREAT | O_EXCL : 0);
    if (!makes) {
        iso_plain_bcast(executor->comm, NULL, 0, MPI_BYTE); /* it is made */
    }
    store->fd = open(path, flags, 0666);
    if (store->fd < 0) {
        refuse(path, strerror(errno));
    }
    if (makes) {
        iso_plain_bcast(executor->comm, NULL, 0, MPI_BYTE);
    }
}

/** Atomic mode: data are visible to others without a collective call. Not all
 * libraries support it; on a local file system it makes no difference. */
static void open_mpi(iso_executor_t *executor, const char *path,
                     iso_store_t *store)
{
    if (executor->rank == 0 && access(path, F_OK) == 0) {
        refuse(path, strerror(EEXIST)); /* some libraries do not say why */
    }
    int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR |
               MPI_MODE_DELETE_ON_CLOSE;
    int error = MPI_File_open(executor->comm, (char *)path, mode, MPI_INFO_NULL,
                              &store->file);
    if (error != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(error, text, &length);
        text[strcspn(text, "\r\n")] = '\0';
        refuse(path, text);
    }
    MPI_File_set_atomicity(store->file, 1);
}

/** Whether an earlier phase has opened the file of a phase; then it is shared.
 */
static bool shares_file(const iso_app_t *app, struct iso_stores *stores, int k)
{
    const iso_app_phase_t *phase = &app->phases[k];
    for (int j = 0; j < k; j++) {
        const iso_app_phase_t *before = &app->phases[j];
        if (before->path && before->method == phase->method &&
            strcmp(before->path, phase->path) == 0) {
            stores->phases[k] = stores->phases[j];
            stores->phases[k].opened = false;
            return true;
        }
    }
    return false;
}

static void open_files(iso_executor_t *executor, struct iso_stores *stores)
{
    const iso_app_t *app = executor->own;
    for (int k = 0; k < app->phase_count; k++) {
        const iso_app_phase_t *phase = &app->phases[k];
        iso_store_t *store = &stores->phases[k];
        store->method = phase->method;
        stores->shares |= phase->method == ISO_METHOD_SHARED_MEMORY;
        if (phase->path == NULL || shares_file(app, stores, k)) {
            continue;
        }
        store->opened = true;
        if (phase->method == ISO_METHOD_POSIX_FILE) {
            open_posix(executor, phase->path, store);
        } else {
            open_mpi(executor, phase->path, store);
        }
    }
}

static void close_files(iso_executor_t *executor, struct iso_stores *stores)
{
    const iso_app_t *app = executor->own;
    for (int k = 0; k < app->phase_count; k++) {
        iso_store_t *store = &stores->phases[k];
        if (!store->opened) {
            continue;
        }
        if (store->method == ISO_METHOD_MPI_FILE) {
            MPI_CHECK(MPI_File_close(&store->file));
        } else {
            close(store->fd);
            if (executor->rank == 0) {
                unlink(app->phases[k].path);
            }
        }
    }
}

/* --- places -------------------------------------------------------------- */

/** Assign areas to the data this rank receives. @return bytes of one kind */
static long long place(iso_executor_t *executor, bool files, long long at)
{
    long long unit = files ? BLOCK : LINE;
    for (size_t k = 0; k < executor->channel_count; k++) {
        iso_channel_t *channel = executor->sorted[k];
        iso_method_t method = method_of(executor, channel);
        bool file =
            method == ISO_METHOD_POSIX_FILE || method == ISO_METHOD_MPI_FILE;
        if (!channel->out && method != ISO_METHOD_MESSAGE && file == files) {
            channel->place = at;
            at += ((long long)channel->most + unit - 1) / unit * unit;
        }
    }
    return at;
}

/** Send each sender the positions, in the order of its messages. */
static void tell_places(iso_executor_t *executor)
{
    size_t count = executor->channel_count, sent = 0;
    MPI_Request *requests = ISO_NEW(MPI_Request, count);
    for (size_t k = 0; k < count; k++) {
        iso_channel_t *channel = executor->sorted[k];
        if (!channel->out && method_of(executor, channel)) {
            MPI_CHECK(MPI_Isend(&channel->place, 1, MPI_LONG_LONG,
                                channel->peer, TAG_PLACE, executor->comm,
                                &requests[sent++]));
        }
    }
    for (size_t k = 0; k < count; k++) {
        iso_channel_t *channel = executor->sorted[k];
        if (channel->out && method_of(executor, channel)) {
            MPI_CHECK(MPI_Recv(&channel->place, 1, MPI_LONG_LONG, channel->peer,
                               TAG_PLACE, executor->comm, MPI_STATUS_IGNORE));
        }
    }
    MPI_CHECK(MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE));
    free(requests);
}

/** Return the address of an area in the receiver's memory. */
static void find_memory(iso_executor_t *executor,
                        const struct iso_stores *stores)
{
    MPI_Group all, node;
    MPI_CHECK(MPI_Comm_group(executor->comm, &all));
    MPI_CHECK(MPI_Comm_group(stores->node, &node));
    for (size_t k = 0; k < executor->channel_count; k++) {
        iso_channel_t *channel = &executor->channels[k];
        int receiver = channel->out ? channel->peer : executor->rank, there,
            unit;
        MPI_Aint size;
        char *memory;
        if (method_of(executor, channel) != ISO_METHOD_SHARED_MEMORY) {
            continue;
        }
        MPI_CHECK(MPI_Group_translate_ranks(all, 1, &receiver, node, &there));
        MPI_CHECK(
            MPI_Win_shared_query(stores->window, there, &size, &unit, &memory));
        channel->memory = memory + channel->place;
    }
    MPI_CHECK(MPI_Group_free(&all));
    MPI_CHECK(MPI_Group_free(&node));
}

static void open_window(iso_executor_t *executor, struct iso_stores *stores,
                        long long bytes)
{
    char *memory;
    MPI_CHECK(MPI_Comm_split(executor->comm, executor->ctx->node,
                             executor->rank, &stores->node));
    MPI_CHECK(MPI_Win_allocate_shared((bytes + LINE), 1, MPI_INFO_NULL,
                                      stores->node, &memory, &stores->window));
    memset(memory, 0, bytes);
    MPI_CHECK(MPI_Win_lock_all(MPI_MODE_NOCHECK, stores->window));
}

void iso_stores_open(iso_executor_t *executor)
{
    const iso_app_t *app = executor->own;
    struct iso_stores *stores = ISO_NEW(struct iso_stores, 1);
    executor->stores = stores;
    stores->phases = ISO_NEW(iso_store_t, app->phase_count);
    if (!executor->ctx->clock.simulated) {
        open_files(executor, stores);
    }
    long long given = (iso_remote_given(executor) + LINE - 1) / LINE * LINE;
    long long here = place(executor, false, given);
    long long bytes = place(executor, true, 0), before = 0;
    long long *all = ISO_NEW(long long, app->ranks);
    iso_plain_allgather(executor->comm, &bytes, sizeof(bytes), all);
    for (int r = 0; r < executor->rank; r++) {
        before += all[r];
    }
    free(all);
    place(executor, true, before);
    tell_places(executor);
    stores->remote = iso_remote_open(executor, here);
    if (stores->shares) {
        open_window(executor, stores, here);
        find_memory(executor, stores);
    }
}

void iso_stores_close(iso_executor_t *executor)
{
    struct iso_stores *stores = executor->stores;
    if (stores->shares) {
        MPI_CHECK(MPI_Win_unlock_all(stores->window));
        MPI_CHECK(MPI_Win_free(&stores->window));
        MPI_CHECK(MPI_Comm_free(&stores->node));
    }
    iso_remote_close(&stores->remote);
    close_files(executor, stores);
    free(stores->phases);
    free(stores);
}

/* --- data ---------------------------------------------------------------- */

static void wait_until_free(iso_channel_t *channel)
{
    if (channel->taken) {
        MPI_CHECK(MPI_Wait(&channel->freed, MPI_STATUS_IGNORE));
        channel->taken = false;
    }
}

static _Noreturn void fail(const iso_executor_t *executor,
                           const iso_channel_t *channel, const char *what)
{
    ISO_FAIL("%s: %s: %s", executor->own->phases[channel->phase].path, what,
             errno ? strerror(errno) : "shorter than what was written");
}

static void write_file(iso_executor_t *executor, iso_channel_t *channel,
                       int bytes)
{
    iso_store_t *store = &executor->stores->phases[channel->phase];
    if (store->method == ISO_METHOD_MPI_FILE) {
        MPI_CHECK(MPI_File_write_at(store->file, channel->place, executor->send,
                                    bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    }
    for (ssize_t done = 0, more; done < bytes; done += more) {
        errno = 0;
        more = pwrite(store->fd, executor->send + done, (bytes - done),
                      channel->place + done);
        if (more <= 0) {
            fail(executor, channel, "cannot be written");
        }
    }
}

static void read_file(iso_executor_t *executor, iso_channel_t *channel,
                      char *into, int bytes)
{
    iso_store_t *store = &executor->stores->phases[channel->phase];
    if (store->method == ISO_METHOD_MPI_FILE) {
        MPI_CHECK(MPI_File_read_at(store->file, channel->place, into, bytes,
                                   MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    }
    for (ssize_t done = 0, more; done < bytes; done += more) {
        errno = 0;
        more = pread(store->fd, into + done, (bytes - done),
                     channel->place + done);
        if (more <= 0) {
            fail(executor, channel, "cannot be read");
        }
    }
}

void iso_store_put(iso_executor_t *executor, iso_channel_t *channel, int bytes)
{
    wait_until_free(channel);
    channel->taken = true; /* until the receiver releases the area */
    MPI_CHECK(MPI_Irecv(NULL, 0, MPI_BYTE, channel->peer,
                        TAG_FREE + channel->phase, executor->comm,
                        &channel->freed));
    iso_method_t method = method_of(executor, channel);
    if (method == ISO_METHOD_PUT) {
        iso_remote_put(executor, channel, bytes, executor->stores->remote);
    }
    if (executor->ctx->clock.simulated || bytes == 0 ||
        iso_remote_has(method)) {
        return;
    }
    if (channel->memory) {
        memcpy(channel->memory, executor->send, bytes);
        MPI_CHECK(MPI_Win_sync(executor->stores->window));
    } else {
        write_file(executor, channel, bytes);
    }
}

void iso_store_take(iso_executor_t *executor, iso_channel_t *channel,
                    char *into, int bytes)
{
    iso_method_t method = method_of(executor, channel);
    if (method == ISO_METHOD_GET) {
        iso_remote_get(channel, into, bytes, executor->stores->remote);
    } else if (!executor->ctx->clock.simulated && bytes > 0 &&
               method != ISO_METHOD_PUT) {
        if (channel->memory) {
            MPI_CHECK(MPI_Win_sync(executor->stores->window));
            memcpy(into, channel->memory, bytes);
        } else {
            read_file(executor, channel, into, bytes);
        }
    }
    MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, channel->peer,
                       TAG_FREE + channel->phase, executor->comm));
}

void iso_stores_settle(iso_executor_t *executor)
{
    for (size_t k = 0; k < executor->channel_count; k++) {
        if (executor->channels[k].out) {
            wait_until_free(&executor->channels[k]);
        }
    }
}
