/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/pieces.h"

#include "recording/memory.h"

enum { MAX_STEPS = 1 << 26 };

/** Begin a new run. */
static void append(iso_pieces_t *list, const iso_run_t *run)
{
    if (list->used == ISO_MAX_RUNS) {
        list->too_many = true;
        return;
    }
    ISO_GROW(list->runs, list->used, list->room);
    list->runs[list->used++] = *run;
}

/** Fold pieces that nothing touches into the runs. */
static void fold(iso_pieces_t *list, iso_run_t run)
{
    list->pieces += run.count;
    while (run.count > 0) {
        iso_run_t *last = list->used ? &list->runs[list->used - 1] : NULL;
        bool alike = last && last->length == run.length;
        if (alike && last->count > 1 &&
            run.offset == last->offset + last->count * last->stride) {
            int64_t more = last->stride == run.stride ? run.count : 1;
            last->count += more;
            run.count -= more;
            run.offset += more * run.stride;
            continue;
        }
        if (alike && last->count == 1 && run.offset > last->offset) {
            last->stride = run.offset - last->offset;
            last->count = 2;
        } else {
            append(list, &(iso_run_t){run.offset, run.length, 1, 0});
        }
        if (list->too_many) {
            return;
        }
        run.count--;
        run.offset += run.stride;
    }
}

void iso_pieces_end(iso_pieces_t *list)
{
    if (list->last.count) {
        fold(list, list->last);
        list->last.count = 0;
    }
}

/** Add one piece, which may touch the one before it. */
static void add_one(iso_pieces_t *list, int64_t offset, int64_t length)
{
    iso_run_t *last = &list->last;
    if (last->count && last->offset + last->length == offset) {
        last->length += length;
        return;
    }
    iso_pieces_end(list);
    *last = (iso_run_t){offset, length, 1, 0};
}

void iso_pieces_add(iso_pieces_t *list, int64_t offset, int64_t length,
                    int64_t count, int64_t stride)
{
    if (length <= 0 || count <= 0) {
        return;
    }
    list->bytes += length * count;
    if (count > 1 && stride == length) {
        length *= count;
        count = 1;
    }
    add_one(list, offset, length);
    if (count > 2) { /* pieces between the first and the last touch no others */
        iso_pieces_end(list);
        fold(list, (iso_run_t){offset + stride, length, count - 2, stride});
    }
    if (count > 1) {
        add_one(list, offset + (count - 1) * stride, length);
    }
}

void iso_pieces_add_all(iso_pieces_t *list, const iso_pieces_t *other,
                        int64_t shift)
{
    for (int k = 0; k < other->used && !list->too_many; k++) {
        const iso_run_t *run = &other->runs[k];
        iso_pieces_add(list, shift + run->offset, run->length, run->count,
                       run->stride);
    }
    list->too_many = list->too_many || other->too_many;
}

void iso_pieces_repeat(iso_pieces_t *list, const iso_pieces_t *other,
                       int64_t shift, int64_t count, int64_t stride)
{
    if (other->used == 1 && other->runs[0].count == 1 && !other->too_many) {
        iso_pieces_add(list, shift + other->runs[0].offset,
                       other->runs[0].length, count, stride);
        return;
    }
    if (other->used && count > MAX_STEPS / other->used) {
        list->too_many = true; /* it would take seconds */
    }
    for (int64_t k = 0; k < count && !list->too_many && other->bytes; k++) {
        iso_pieces_add_all(list, other, shift + k * stride);
    }
}

/** Add the bytes of one run from @a first to before @a end of its own. */
static void add_part_of_run(iso_pieces_t *list, const iso_run_t *run,
                            int64_t shift, int64_t first, int64_t end)
{
    int64_t piece = first / run->length, within = first % run->length;
    int64_t at = shift + run->offset + piece * run->stride;
    if (within) {
        int64_t rest = run->length - within;
        rest = rest < end - first ? rest : end - first;
        iso_pieces_add(list, at + within, rest, 1, 0);
        first += rest;
        at += run->stride;
    }
    int64_t whole = (end - first) / run->length;
    iso_pieces_add(list, at, run->length, whole, run->stride);
    first += whole * run->length;
    iso_pieces_add(list, at + whole * run->stride, end - first, 1, 0);
}

void iso_pieces_add_part(iso_pieces_t *list, const iso_pieces_t *other,
                         int64_t shift, int64_t first, int64_t end)
{
    for (int k = 0; k < other->used && end > 0; k++) {
        const iso_run_t *run = &other->runs[k];
        int64_t bytes = run->length * run->count;
        if (first < bytes) {
            add_part_of_run(list, run, shift, first < 0 ? 0 : first,
                            end < bytes ? end : bytes);
        }
        first -= bytes;
        end -= bytes;
    }
    list->too_many = list->too_many || other->too_many;
}

void iso_pieces_free(iso_pieces_t *list)
{
    free(list->runs);
    *list = (iso_pieces_t){0};
}
