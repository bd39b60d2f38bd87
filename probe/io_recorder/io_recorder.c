/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/io_recorder.h"

#include "io_recorder/flat_type.h"
#include "io_recorder/io_writing.h"
#include "io_recorder/requests.h"
#include "recording/memory.h"
#include "recording/output.h"

#include <pthread.h>

/** Whether accesses are recorded; changes in MPI_Init and MPI_Finalize only. */
static bool recording;
static iso_io_recording_t all;

/** Protects the recording. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/** Whether this thread is in an intercepted call. */
static __thread bool inside;

const char *const iso_program_library = "isochrone-io";

bool iso_outermost(void)
{
    bool first = !inside;
    inside = true;
    return first;
}

void iso_outermost_ends(void)
{
    inside = false;
}

/* --- times ---------------------------------------------------------------- */

/** Count a call of a file; @a numbered: it was begun before. */
static void spend(iso_open_file_t *file, iso_timed_t timed, bool numbered)
{
    file->spent[timed.call][timed.write].seconds += timed.seconds;
    timed.file = file->id;
    timed.index = (int)(file - all.files.list);
    timed.enters = !numbered;
    timed.left = all.left;
    timed.before = all.before;
    all.left = 0;
    if (iso_call_is_collective(timed.call)) {
        all.left = timed.begin + timed.seconds;
        all.before = 2 * timed.call + timed.write;
    }
    if (!numbered) {
        file->spent[timed.call][timed.write].calls++;
        timed.sequence = file->collectives;
    }
    if (iso_call_is_collective(timed.call)) {
        file->collectives += !numbered;
        iso_account_add(&all.account, &timed);
    } else {
        file->spent[timed.call][timed.write].access += timed.seconds;
    }
}

/* --- files ---------------------------------------------------------------- */

iso_open_id_t iso_file_opening(MPI_Comm comm, bool outermost)
{
    iso_open_id_t id = {0, 0};
    if (recording && outermost) {
        pthread_mutex_lock(&one_at_a_time);
        id = iso_open_files_agree(&all.files, comm);
        pthread_mutex_unlock(&one_at_a_time);
    }
    return id;
}

void iso_file_opened(iso_open_id_t id, const char *name, MPI_Info given,
                     MPI_File file)
{
    if (!recording) {
        return;
    }
    pthread_mutex_lock(&one_at_a_time);
    iso_open_files_add(&all.files, id, name, given, file);
    pthread_mutex_unlock(&one_at_a_time);
}

void iso_file_called(MPI_File handle, iso_call_t call, double begin, double end)
{
    pthread_mutex_lock(&one_at_a_time);
    iso_open_file_t *file = iso_open_files_find(&all.files, handle);
    if (file) {
        iso_timed_t timed = {
            .call = call, .begin = begin, .seconds = end - begin};
        spend(file, timed, false);
    }
    pthread_mutex_unlock(&one_at_a_time);
}

void iso_file_viewed(MPI_File handle, MPI_Offset displacement,
                     MPI_Datatype etype, MPI_Datatype filetype,
                     const char *representation, MPI_Info given)
{
    pthread_mutex_lock(&one_at_a_time);
    iso_open_file_t *file = iso_open_files_find(&all.files, handle);
    if (file) {
        iso_view_free(&file->view);
        file->view =
            iso_view_made(displacement, etype, filetype, representation);
        file->last_shape = -1;
    }
    if (file && file->leads && given != MPI_INFO_NULL) {
        iso_open_file_hints(file, given);
    }
    pthread_mutex_unlock(&one_at_a_time);
}

void iso_file_closed(MPI_File handle)
{
    pthread_mutex_lock(&one_at_a_time);
    iso_open_file_t *file = iso_open_files_find(&all.files, handle);
    if (file) {
        iso_view_free(&file->view);
        file->handle = MPI_FILE_NULL;
    }
    pthread_mutex_unlock(&one_at_a_time);
}

/* --- accesses ------------------------------------------------------------- */

iso_access_t iso_access_begin(MPI_File file, iso_call_t call, iso_where_t where,
                              MPI_Offset offset)
{
    bool collective = iso_call_is_collective(call);
    iso_access_t access = {.handle = file,
                           .call = call,
                           .known = collective && where != ISO_UNKNOWN,
                           .offset = offset};
    access.on = iso_outermost();
    if (!access.on) {
        return access;
    }
    if (recording && access.known && where == ISO_HERE) {
        access.known =
            PMPI_File_get_position(file, &access.offset) == MPI_SUCCESS;
    }
    if (collective) {
        iso_timing_begin();
    }
    access.begin = PMPI_Wtime();
    return access;
}

/** Find the pieces of an access; those of many follow from the one before. */
static int shape_of(iso_open_file_t *file, int64_t first, int64_t bytes,
                    int64_t *base)
{
    const iso_view_t *view = &file->view;
    int64_t size = view->tile.bytes;
    int64_t moved = first - file->last_first;
    if (file->last_shape >= 0 && bytes == file->last_bytes && size > 0 &&
        moved % size == 0) {
        *base = file->last_base + moved / size * view->extent;
    } else {
        iso_pieces_t list = {0};
        iso_view_access(view, first, bytes, &list);
        file->last_shape = iso_shapes_add(&all.shapes, &list, base);
        iso_pieces_free(&list);
        if (bytes == 0) { /* file domains end at the current offset */
            *base = iso_view_place(view, first);
        }
    }
    file->last_first = first;
    file->last_bytes = bytes;
    file->last_base = *base;
    return file->last_shape;
}

/** Store the times of the phases, if there is room. */
static void keep_slots(iso_io_call_t *call, const iso_timing_t *timing)
{
    call->offsets = timing->offsets;
    call->rounds = timing->rounds;
    all.messages_seen = all.messages_seen || timing->messages_seen;
    all.file_seen = all.file_seen || timing->file_seen;
    call->too_many = timing->too_many ||
                     all.slot_count + timing->used > ISO_MAX_STORED_SLOTS;
    if (call->too_many) {
        return;
    }
    if (all.slot_count + timing->used > all.slot_room) {
        all.slot_room = 2 * (all.slot_room + timing->used);
        all.slots = iso_resized(all.slots, all.slot_room * sizeof(*all.slots));
    }
    call->parts_known = 1;
    call->first_slot = all.slot_count;
    call->slots = timing->used;
    if (timing->used > 0) { /* else there may be no list yet */
        memcpy(&all.slots[all.slot_count], timing->slots,
               timing->used * sizeof(*all.slots));
    }
    all.slot_count += timing->used;
}

/** Add a collective access to the list, if there is room. */
static void keep_call(iso_open_file_t *file, const iso_access_t *access,
                      const iso_timing_t *timing, const char *name, bool write,
                      int64_t bytes)
{
    int sequence = file->accesses++;
    file->last_call = -1;
    if (all.call_count == ISO_MAX_CALLS) {
        all.calls_left_out++;
        return;
    }
    ISO_GROW(all.calls, all.call_count, all.call_room);
    file->last_call = all.call_count;
    iso_io_call_t *call = &all.calls[all.call_count++];
    memset(call, 0, sizeof(*call)); /* it is sent as it lies in memory */
    call->file = file->id;
    call->sequence = sequence;
    call->write = write;
    call->begin = timing->begin;
    call->left = all.left;
    call->seconds = timing->seconds;
    call->bytes = bytes;
    call->shape = -1;
    snprintf(call->name, sizeof(call->name), "%s", name);
    if (file->view.known) {
        call->placed = 1;
        call->shape = shape_of(file, access->offset * file->view.etype, bytes,
                               &call->base);
        call->hash = all.shapes.list[call->shape].hash;
        call->pieces = all.shapes.list[call->shape].pieces;
    }
    if (access->call == ISO_COLLECTIVE) {
        keep_slots(call, timing);
    }
}

/** Count an access that began now. */
static void count(iso_open_file_t *file, const iso_access_t *access,
                  const iso_timing_t *timing, bool write, int64_t bytes,
                  double seconds)
{
    iso_spent_t *spent = &file->spent[access->call][write];
    iso_timed_t timed = {.call = access->call,
                         .write = write,
                         .begin = access->begin,
                         .seconds = seconds,
                         .access = timing ? timing->accessed : seconds};
    spent->bytes += bytes;
    spent->pieces += iso_view_pieces(&file->view, bytes);
    spent->span += iso_view_span(&file->view, bytes);
    spent->empty += bytes == 0;
    file->split = file->collectives;
    spend(file, timed, false);
}

int iso_access_end(iso_access_t *access, int code, const char *name, bool write,
                   int64_t elements, MPI_Datatype type,
                   const MPI_Request *request)
{
    if (!access->on) {
        return code;
    }
    double seconds = PMPI_Wtime() - access->begin;
    iso_timing_t *timing =
        iso_call_is_collective(access->call) ? iso_timing_end() : NULL;
    iso_open_file_t *file = NULL;
    iso_started_t start;
    if (recording) {
        int64_t bytes = elements * iso_type_size(type);
        pthread_mutex_lock(&one_at_a_time);
        file = iso_open_files_find(&all.files, access->handle);
        if (file && timing) {
            file->last_call = -1;
        }
        if (file && access->known && timing) {
            keep_call(file, access, timing, name, write, bytes);
        }
        if (file) {
            count(file, access, timing, write, bytes, seconds);
            start = (iso_started_t){(int)(file - all.files.list),
                                    file->split,
                                    file->last_call,
                                    access->call,
                                    write,
                                    access->begin};
        }
        pthread_mutex_unlock(&one_at_a_time);
    }
    if (file && request && code == MPI_SUCCESS) {
        iso_request_add(*request, &start);
    }
    iso_outermost_ends();
    return code;
}

void iso_access_completed(const iso_access_t *access)
{
    if (!access->on) {
        return;
    }
    double seconds = PMPI_Wtime() - access->begin;
    double accessed = iso_timing_end()->accessed;
    if (recording) {
        pthread_mutex_lock(&one_at_a_time);
        iso_open_file_t *file = iso_open_files_find(&all.files, access->handle);
        if (file && file->last_call >= 0) {
            all.calls[file->last_call].seconds += seconds;
        }
        if (file) {
            iso_timed_t timed = {.call = access->call,
                                 .write = access->write,
                                 .sequence = file->split,
                                 .begin = access->begin,
                                 .seconds = seconds,
                                 .access = accessed};
            spend(file, timed, true);
        }
        pthread_mutex_unlock(&one_at_a_time);
    }
    iso_outermost_ends();
}

void iso_access_awaited(const iso_started_t *started, double begin, double end,
                        double seconds, bool done)
{
    if (!recording) {
        return;
    }
    pthread_mutex_lock(&one_at_a_time);
    iso_open_file_t *file = &all.files.list[started->file];
    iso_timed_t timed = {.call = started->call,
                         .write = started->write,
                         .sequence = started->sequence,
                         .begin = begin,
                         .seconds = end - begin,
                         .access = seconds};
    if (done) {
        spend(file, timed, true);
    } else { /* there may be very many tests */
        file->spent[started->call][started->write].seconds += end - begin;
    }
    if (done && started->recorded >= 0) {
        all.calls[started->recorded].seconds = end - started->begin;
    }
    pthread_mutex_unlock(&one_at_a_time);
}

/* --- beginning and end ---------------------------------------------------- */

void iso_io_begins(void)
{
    static bool begun; /* by a Fortran function that called the C function */
    if (begun) {
        return;
    }
    begun = true;
    if (!iso_output_requested("ISOCHRONE_IO_RECORD", &all.path)) {
        return;
    }
    all.shapes = iso_shapes();
    all.clocks.first = iso_clocks_compare();
    all.began = PMPI_Wtime();
    recording = true;
}

/** From here on, times are those of the clock of rank 0. */
static void to_root_clock(void)
{
    iso_clocks_translate(&all.clocks, &all.began);
    iso_clocks_translate(&all.clocks, &all.ended);
    for (int k = 0; k < all.account.used; k++) {
        iso_clocks_translate(&all.clocks, &all.account.timed[k].begin);
        iso_clocks_translate(&all.clocks, &all.account.timed[k].left);
    }
    for (int k = 0; k < all.call_count; k++) {
        iso_clocks_translate(&all.clocks, &all.calls[k].begin);
        iso_clocks_translate(&all.clocks, &all.calls[k].left);
    }
}

void iso_io_ends(void)
{
    if (!recording) {
        return;
    }
    recording = false;
    all.ended = PMPI_Wtime();
    all.clocks.last = iso_clocks_compare();
    to_root_clock();
    iso_io_writing(&all);
    iso_open_files_free(&all.files);
    iso_shapes_free(&all.shapes);
    free(all.account.timed);
    free(all.calls);
    free(all.slots);
    free(all.path);
}
