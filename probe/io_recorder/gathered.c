/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/gathered.h"

#include "io_recorder/packed.h"
#include "recording/memory.h"

#include <math.h>

/** An entry of the map of calls. */
typedef struct {
    iso_key_t key; /**< leader, number, sequence */
    int call;
} iso_numbered_t;

iso_gathered_t iso_gathered(void)
{
    return (iso_gathered_t){.opened = iso_map(sizeof(iso_opened_t)),
                            .call_of = iso_map(sizeof(iso_numbered_t))};
}

/* --- files ---------------------------------------------------------------- */

static void take_file(iso_gathered_t *all, int rank,
                      const iso_packed_file_t *file)
{
    iso_opened_t *opened =
        iso_map_get(&all->opened, file->id.leader, file->id.number, 0);
    opened->opens = 1;
    opened->ranks =
        iso_resized(opened->ranks, (opened->rank_count + 1) * sizeof(int));
    opened->ranks[opened->rank_count++] = rank;
    for (int write = 0; write < 2; write++) {
        const iso_spent_t *own = &file->independent[write];
        iso_spent_t *sum = &opened->independent[write];
        sum->calls += own->calls;
        sum->bytes += own->bytes;
        sum->seconds = fmax(sum->seconds, own->seconds);
        opened->independent_ranks[write] += own->calls > 0;
    }
}

/** Copy a text, and advance behind it. */
static char *take_text(const char **at)
{
    char *text = iso_copied(*at);
    *at += strlen(text) + 1;
    return text;
}

static void take_texts(iso_opened_t *opened, const char **at)
{
    opened->name = take_text(at);
    opened->filesystem = take_text(at);
    char *number = take_text(at);
    opened->hint_count = atoi(number);
    free(number);
    opened->hints = iso_zeroed(opened->hint_count * sizeof(*opened->hints));
    for (int k = 0; k < opened->hint_count; k++) {
        iso_hint_t *hint = &opened->hints[k];
        char *key = take_text(at), *there = take_text(at);
        char *given = take_text(at), *value = take_text(at);
        snprintf(hint->key, sizeof(hint->key), "%s", key);
        hint->given = there[0] == '1' ? given : (free(given), NULL);
        hint->value = there[1] == '1' ? value : (free(value), NULL);
        free(key);
        free(there);
    }
}

/* --- calls ---------------------------------------------------------------- */

static void more_slots(iso_gathered_call_t *call, int count)
{
    if (count <= call->slot_count) {
        return;
    }
    call->slots = iso_resized(call->slots, count * sizeof(*call->slots));
    for (int k = call->slot_count; k < count; k++) {
        call->slots[k] = (iso_slot_sum_t){.sync = -1};
    }
    call->slot_count = count;
}

static iso_gathered_call_t *call_of(iso_gathered_t *all,
                                    const iso_io_call_t *call)
{
    iso_numbered_t *known = iso_map_get(&all->call_of, call->file.leader,
                                        call->file.number, call->sequence);
    if (known->call > 0) {
        return &all->calls[known->call - 1];
    }
    ISO_GROW(all->calls, all->call_count, all->call_room);
    iso_gathered_call_t *made = &all->calls[all->call_count++];
    *made = (iso_gathered_call_t){.file = call->file,
                                  .sequence = call->sequence,
                                  .write = call->write,
                                  .placed = true,
                                  .parts_known = true,
                                  .hash = 1,
                                  .offsets = call->offsets,
                                  .first = call->begin,
                                  .latest = call->begin,
                                  .left = call->left};
    memcpy(made->name, call->name, sizeof(made->name));
    known->call = all->call_count;
    iso_gathered_file(all, call->file)->accesses++;
    return made;
}

static void take_call(iso_gathered_t *all, int rank, const iso_io_call_t *call,
                      const iso_slot_t *slots)
{
    iso_gathered_call_t *sum = call_of(all, call);
    sum->ranks++;
    sum->placed = sum->placed && call->placed;
    sum->parts_known = sum->parts_known && call->parts_known;
    sum->too_many = sum->too_many || call->too_many;
    sum->bytes += call->bytes;
    sum->pieces += call->pieces;
    sum->seconds = fmax(sum->seconds, call->seconds);
    sum->offsets = call->offsets < sum->offsets ? call->offsets : sum->offsets;
    sum->first = fmin(sum->first, call->begin);
    if (call->begin > sum->latest) {
        sum->latest = call->begin;
        sum->left = call->left;
    }
    sum->rounds = call->rounds > sum->rounds ? call->rounds : sum->rounds;
    if (call->bytes > 0 && !sum->has_reference) {
        sum->has_reference = true;
        sum->reference = call->base;
    }
    if (call->bytes > 0) {
        sum->hash = iso_mix(sum->hash, rank);
        sum->hash = iso_mix(sum->hash, call->hash);
        sum->hash = iso_mix(sum->hash, (call->base - sum->reference));
    }
    more_slots(sum, call->slots);
    for (int k = 0; k < call->slots; k++) {
        iso_slot_sum_add(&sum->slots[k], &slots[call->first_slot + k]);
    }
}

void iso_gathered_take(void *self, int rank, const void *packed, size_t length)
{
    iso_gathered_t *all = self;
    const iso_packed_t *head = packed;
    const iso_packed_file_t *files = (const void *)(head + 1);
    const iso_io_call_t *calls = (const void *)(files + head->files);
    const iso_slot_t *slots = (const void *)(calls + head->calls);
    const char *texts = (const void *)(slots + head->slots);
    for (int k = 0; k < head->files; k++) {
        take_file(all, rank, &files[k]);
        if (files[k].leads) {
            take_texts(iso_gathered_file(all, files[k].id), &texts);
        }
    }
    for (int k = 0; k < head->calls; k++) {
        take_call(all, rank, &calls[k], slots);
    }
    all->messages_seen = all->messages_seen || head->messages_seen;
    all->file_seen = all->file_seen || head->file_seen;
    all->calls_left_out += head->calls_left_out;
}

iso_opened_t *iso_gathered_file(const iso_gathered_t *all, iso_open_id_t file)
{
    return iso_map_find(&all->opened, file.leader, file.number, 0);
}

static bool are_one_file(const iso_opened_t *a, const iso_opened_t *b)
{
    return a->rank_count == b->rank_count && a->name && b->name &&
           strcmp(a->name, b->name) == 0 &&
           memcmp(a->ranks, b->ranks, a->rank_count * sizeof(int)) == 0;
}

static void join(iso_opened_t *first, iso_opened_t *other)
{
    first->opens += other->opens;
    for (int write = 0; write < 2; write++) {
        int ranks = other->independent_ranks[write];
        iso_spent_add(&first->independent[write], &other->independent[write]);
        if (ranks > first->independent_ranks[write]) {
            first->independent_ranks[write] = ranks;
        }
    }
    if (first->accesses == 0 && other->accesses > 0) {
        iso_hint_t *hints = first->hints;
        int count = first->hint_count;
        first->hints = other->hints;
        first->hint_count = other->hint_count;
        other->hints = hints;
        other->hint_count = count;
    }
    first->accesses += other->accesses;
}

void iso_gathered_join(iso_gathered_t *all)
{
    int number = 0;
    for (iso_opened_t *file = iso_map_next(&all->opened, NULL); file;
         file = iso_map_next(&all->opened, file)) {
        file->joined = -1;
        for (iso_opened_t *first = iso_map_next(&all->opened, NULL);
             first != file; first = iso_map_next(&all->opened, first)) {
            if (first->opens > 0 && are_one_file(first, file)) {
                join(first, file);
                file->opens = 0;
                file->joined = first->joined;
                break;
            }
        }
        file->joined = file->joined < 0 ? number++ : file->joined;
    }
}

void iso_gathered_free(iso_gathered_t *all)
{
    for (iso_opened_t *file = iso_map_next(&all->opened, NULL); file;
         file = iso_map_next(&all->opened, file)) {
        iso_hints_free(file->hints, file->hint_count);
        free(file->name);
        free(file->filesystem);
        free(file->ranks);
    }
    for (int k = 0; k < all->call_count; k++) {
        free(all->calls[k].slots);
    }
    free(all->calls);
    iso_map_free(&all->opened);
    iso_map_free(&all->call_of);
}
