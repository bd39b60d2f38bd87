/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "experiments/tile_io/tile_file.h"

#include "base/check.h"
#include "machine/heartbeat.h"
#include "machine/own_collectives.h"
#include "runfile/record.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { CHUNK = 1 << 22 };

/** The name as the system knows it: without ROMIO's "ufs:", "lustre:" ... */
static const char *path_of(const char *name)
{
    size_t letters = 0;
    while (isalnum((unsigned char)name[letters])) {
        letters++;
    }
    return letters > 1 && name[letters] == ':' ? name + letters + 1 : name;
}

/** End all ranks after one line; remove a file that was created here. */
static _Noreturn void give_up(const iso_tile_file_t *file, const char *what,
                              const char *why, int code)
{
    iso_complain("%s: %s: %s", path_of(file->name), what, why);
    if (file->made) {
        unlink(path_of(file->name));
    }
    iso_end_all(code);
}

/** Whether the file system has no room left: libraries do not always say. */
static bool is_full(const iso_tile_file_t *file)
{
    struct statvfs found;
    return statvfs(path_of(file->name), &found) == 0 && found.f_bavail == 0;
}

/**
 * End all ranks if an MPI function failed on this one. At once and without
 * asking the others: they may wait for this rank inside that function.
 */
static void check_io(const iso_tile_file_t *file, const char *what, int error)
{
    if (error == MPI_SUCCESS) {
        return;
    }
    static const struct {
        int class;
        const char *words;
    } known[] = {
        {MPI_ERR_NO_SPACE, "no space left on the file system"},
        {MPI_ERR_QUOTA, "disk quota exceeded"},
        {MPI_ERR_READ_ONLY, "the file system is read-only"},
        {MPI_ERR_ACCESS, "permission denied"},
        {MPI_ERR_NO_SUCH_FILE, "no such file or folder"},
        {MPI_ERR_FILE_EXISTS, "the file exists"},
    };
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, class = 0;
    const char *words = text;
    MPI_Error_class(error, &class);
    MPI_Error_string(error, text, &length);
    for (size_t k = 0; k < ISO_LENGTH(known); k++) {
        words = known[k].class == class ? known[k].words : words;
    }
    if (words == text && is_full(file)) {
        words = known[0].words;
    }
    text[strcspn(text, "\r\n")] = '\0';
    give_up(file, what, words, ISO_EXIT_FAILED);
}

/** Create the file at rank 0, with clearer messages than MPI's. */
static void try_to_make(iso_tile_file_t *file, bool replace)
{
    const char *path = path_of(file->name);
    int there = 0;
    struct stat found;
    if (file->ctx->rank == 0) {
        there = stat(path, &found) == 0;
        if (there && !S_ISREG(found.st_mode)) {
            give_up(file, "cannot create it", "it is not a regular file",
                    ISO_EXIT_USAGE);
        }
        if (there && !replace) {
            give_up(file, "the file exists",
                    "choose another name, or use --replace", ISO_EXIT_USAGE);
        }
        /* More than the array would be left of a larger file. */
        int made = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (made < 0) {
            give_up(file, "cannot create it", strerror(errno), ISO_EXIT_USAGE);
        }
        close(made);
        if (!there) {
            unlink(path);
        }
    }
    iso_plain_bcast(file->ctx->control, &there, 1, MPI_INT);
    file->made = !there;
}

void iso_tile_file_init(iso_tile_file_t *file, const iso_context_t *ctx,
                        const iso_tiling_t *tiling, const char *name,
                        MPI_Info hints, bool replace)
{
    *file = (iso_tile_file_t){
        .ctx = ctx, .tiling = tiling, .name = name, .hints = hints};
    try_to_make(file, replace);
    int shape[2] = {tiling->y, tiling->x}, open_ended[2] = {0, 0};
    MPI_CHECK(MPI_Cart_create(ctx->comm, 2, shape, open_ended, 0, &file->grid));
    file->view = iso_tiling_view(tiling, ctx->rank);
    file->tile = iso_calloc(iso_tiling_tile(tiling), 1);
}

void iso_tile_file_remove(iso_tile_file_t *file)
{
    iso_meet(file->ctx);
    if (file->ctx->rank == 0 && unlink(path_of(file->name)) != 0) {
        give_up(file, "cannot remove it", strerror(errno), ISO_EXIT_FAILED);
    }
    iso_meet(file->ctx);
}

void iso_tile_file_free(iso_tile_file_t *file, bool keep)
{
    if (!keep) {
        iso_tile_file_remove(file);
    }
    MPI_CHECK(MPI_Type_free(&file->view));
    MPI_CHECK(MPI_Comm_free(&file->grid));
    free(file->tile);
}

/** Bytes that went through read or write calls of this process; -1 unknown. */
static long long moved(const char *key)
{
    char line[128];
    long long value = -1, found;
    FILE *stream = fopen("/proc/self/io", "r");
    while (stream && fgets(line, sizeof(line), stream)) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) == 0 &&
            sscanf(line + length, ": %lld", &found) == 1) {
            value = found;
        }
    }
    if (stream) {
        fclose(stream);
    }
    return value;
}

/** Open, set the view, move the tile, close; only the calls are timed. */
static void transfer(iso_tile_file_t *file, bool write,
                     iso_tile_access_t *access)
{
    const iso_context_t *ctx = file->ctx;
    const char *key = write ? "wchar" : "rchar";
    const char *what = write ? "cannot write it" : "cannot read it";
    int bytes = (int)iso_tiling_tile(file->tiling);
    int mode = write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
    char native[] = "native";
    MPI_File handle;
    MPI_Status status;
    iso_heartbeat_beat();
    iso_meet(ctx);
    double start = iso_now();
    int error =
        MPI_File_open(file->grid, file->name, mode, file->hints, &handle);
    access->open = iso_now() - start;
    check_io(file, "cannot open it", error);
    check_io(file, "cannot set the file view",
             MPI_File_set_view(handle, 0, MPI_BYTE, file->view, native,
                               file->hints));
    check_io(file, "cannot get its hints",
             MPI_File_get_info(handle, &access->used));

    long long before = moved(key);
    iso_heartbeat_beat();
    iso_meet(ctx);
    if (write) {
        start = iso_now();
        error =
            MPI_File_write_all(handle, file->tile, bytes, MPI_BYTE, &status);
        access->seconds = iso_now() - start;
    } else {
        start = iso_now();
        error = MPI_File_read_all(handle, file->tile, bytes, MPI_BYTE, &status);
        access->seconds = iso_now() - start;
    }
    check_io(file, what, error);
    access->file_io = before < 0 ? -1 : moved(key) - before;
    access->parts = iso_io_parts_of_last(ctx->control);

    iso_heartbeat_beat();
    iso_meet(ctx);
    start = iso_now();
    error = MPI_File_close(&handle);
    access->close = iso_now() - start;
    check_io(file, "cannot close it", error);
}

/** End all ranks if some bytes differ on any of them. */
static void agree_on(const iso_tile_file_t *file, long long differ,
                     long long where)
{
    const iso_context_t *ctx = file->ctx;
    long long first = differ ? where : iso_tiling_bytes(file->tiling);
    char text[160];
    iso_plain_allreduce(ctx->control, &differ, 1, MPI_LONG_LONG, MPI_SUM);
    iso_plain_allreduce(ctx->control, &first, 1, MPI_LONG_LONG, MPI_MIN);
    if (differ == 0) {
        return;
    }
    if (ctx->rank == 0) {
        snprintf(text, sizeof(text),
                 "%lld bytes read differ from those written, first at offset "
                 "%lld%s",
                 differ, first,
                 is_full(file) ? "; the file system is full" : "");
        iso_record_warning(ctx->record, "mismatch", "%s", text);
        iso_record_flush(ctx->record);
        give_up(file, "wrong data read back", text, ISO_EXIT_FAILED);
    }
    iso_meet(ctx); /* rank 0 ends all */
}

void iso_tile_file_write(iso_tile_file_t *file, int seed,
                         iso_tile_access_t *access)
{
    iso_tiling_fill(file->tiling, file->ctx->rank, seed, file->tile);
    transfer(file, true, access);
}

void iso_tile_file_read(iso_tile_file_t *file, int seed,
                        iso_tile_access_t *access)
{
    long long where = 0;
    memset(file->tile, 0, iso_tiling_tile(file->tiling));
    transfer(file, false, access);
    long long differ = iso_tiling_differ(file->tiling, file->ctx->rank, seed,
                                         file->tile, &where);
    agree_on(file, differ, where);
}

void iso_tile_file_check(iso_tile_file_t *file, int seed)
{
    const iso_context_t *ctx = file->ctx;
    long long bytes = iso_tiling_bytes(file->tiling), differ = 0, where = 0;
    long long share = (bytes + ctx->size - 1) / ctx->size;
    long long at = ctx->rank * share;
    long long end = at + share < bytes ? at + share : bytes;
    unsigned char *chunk = iso_calloc(CHUNK, 1);
    MPI_File handle;
    MPI_Status status;
    MPI_Offset size = 0;
    check_io(file, "cannot open it",
             MPI_File_open(file->grid, file->name, MPI_MODE_RDONLY,
                           MPI_INFO_NULL, &handle));
    check_io(file, "cannot get its size", MPI_File_get_size(handle, &size));
    for (; at < end; at += CHUNK) {
        int length = (int)(end - at < CHUNK ? end - at : CHUNK);
        memset(chunk, 0, CHUNK);
        iso_heartbeat_beat();
        check_io(
            file, "cannot read it",
            MPI_File_read_at(handle, at, chunk, length, MPI_BYTE, &status));
        for (int k = 0; k < length; k++) {
            if (chunk[k] != iso_tiling_byte(at + k, seed) && !differ++) {
                where = at + k;
            }
        }
    }
    check_io(file, "cannot close it", MPI_File_close(&handle));
    free(chunk);
    if (size != bytes && !differ) {
        differ = 1;
        where = size < bytes ? size : bytes;
    }
    agree_on(file, differ, where);
}
