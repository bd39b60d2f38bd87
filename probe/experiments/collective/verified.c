/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/verified.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "messages/patterns.h"

#include <math.h>

enum { SIZES = 3, UNLIKE = 0xa5, NAME = 120 };

/** Bytes by which copies of staged blocks are rounded up. */
enum { MARGIN = ISO_MAX_NEIGHBORS * 64 };

/** Result of the verification of a subject, over all calls and ranks. */
struct verdict {
    long long blocks, wrong, bytes; /**< bytes: of the first wrong block */
};

/** One call, seen from one rank. */
struct seen {
    const iso_operation_t *operation;
    const iso_element_t *element;
    bool maximum; /**< what reductions find; else they add */
    int rank, ranks, root;
    long long count; /**< elements of a block that does not vary */
};

/* --- what blocks hold ---------------------------------------------------- */

/** Ranks from 0 on whose contributions differ; and of one byte are not 0, as
 *  libraries differ in sums of more than 127 (2 * (1 + 2 + ... + 10) = 110). */
enum { UNLIKE_RANKS = 16, RANKS_OF_BYTES = 10 };

static uint8_t byte_of(int from, int to, long long at)
{
    uint32_t mixed = (uint32_t)from * 2654435761u + (uint32_t)to * 40503u +
                     (uint32_t)at * 2246822519u + 374761393u;
    return (uint8_t)((mixed ^ (mixed >> 15)) >> 8);
}

/** What a rank contributes is its number, from 1 on, times this. */
static double factor_of(const struct seen *call, int to, long long at)
{
    return call->element->size == 1 ? 1 + (to + at) % 2 : 1 + to % 7 + at % 13;
}

/** What the ranks before @a last reduce to, without the factor. */
static double reduced(const struct seen *call, int last)
{
    if (call->element->size == 1 && last > RANKS_OF_BYTES) {
        last = RANKS_OF_BYTES;
    }
    int rounds = last / UNLIKE_RANKS, left = last % UNLIKE_RANKS;
    if (call->maximum) {
        return rounds ? UNLIKE_RANKS : left;
    }
    return rounds * (UNLIKE_RANKS * (UNLIKE_RANKS + 1) / 2.0) +
           left * (left + 1) / 2.0;
}

/** Write an element: of the reduction of ranks, if @a number is given, or of a
 *  message. */
static void element_of(const struct seen *call, double number, int from, int to,
                       long long k, char *element)
{
    const iso_element_t *type = call->element;
    if (call->operation->reduces) {
        type->store(element, number * factor_of(call, to, k));
        return;
    }
    for (size_t b = 0; b < type->size; b++) {
        element[b] = (char)byte_of(from, to, k * (long long)type->size + b);
    }
}

static void fill(const struct seen *call, char *block, long long count, int to)
{
    bool none = call->element->size == 1 && call->rank >= RANKS_OF_BYTES;
    double number = none ? 0 : call->rank % UNLIKE_RANKS + 1;
    for (long long k = 0; k < count; k++) {
        element_of(call, number, call->rank, to, k,
                   block + k * call->element->extent);
    }
}

static bool holds(const struct seen *call, const char *block, long long count,
                  int from)
{
    const iso_operation_t *operation = call->operation;
    int to = operation->sends_all ? call->rank : 0;
    int last = !operation->of_those_before ? call->ranks
               : operation->without_own    ? call->rank
                                           : call->rank + 1;
    double number = reduced(call, last);
    char expected[64]; /* more than any element */
    for (long long k = 0; k < count; k++) {
        element_of(call, number, from, to, k, expected);
        if (memcmp(block + k * call->element->extent, expected,
                   call->element->size) != 0) {
            return false;
        }
    }
    return true;
}

/* --- one call ------------------------------------------------------------ */

/** A block in a buffer. */
struct place {
    int peer; /**< rank at the other end */
    long long count;
    size_t at; /**< bytes */
};

/** Find the blocks of a buffer. @return their number */
static int places(const struct seen *call, const iso_call_t *given,
                  bool received, int k, struct place *place)
{
    const iso_operation_t *operation = call->operation;
    const iso_blocks_t *blocks = received ? given->received : given->sent;
    bool all = received ? operation->receives_all : operation->sends_all;
    if (blocks) {
        if (k < blocks->number) {
            *place = (struct place){blocks->peers[k], blocks->counts[k],
                                    (size_t)blocks->offsets[k]};
        }
        return blocks->number;
    }
    *place =
        (struct place){k, call->count, k * call->count * call->element->extent};
    return all ? call->ranks : 1;
}

/** Fill what this rank sends, where the call takes it from. */
static void fill_buffers(const struct seen *call, const iso_call_t *given,
                         char *send, char *receive)
{
    const iso_operation_t *operation = call->operation;
    bool at_root = call->rank == call->root;
    bool in_place = operation->rooted ? given->in_place >= 0 && at_root
                                      : given->send == MPI_IN_PLACE;
    struct place place = {0}, own = {0};
    if (in_place && operation->receives_all && !operation->sends_all) {
        places(call, given, true, call->rank, &own); /* its own among all */
    }
    if ((in_place && !operation->rooted) ||
        (operation->root_receives && in_place) ||
        (operation->in_one_buffer && at_root)) {
        send = receive + own.at;
    }
    for (int k = 0; k < places(call, given, false, k, &place); k++) {
        int to = operation->sends_all ? place.peer : 0;
        fill(call, send + place.at, place.count, to);
    }
}

/** Call it, and count the blocks that this rank receives. */
static void verify_call(const iso_work_t *work, const iso_call_t *given,
                        struct seen call, long long bytes,
                        const iso_buffer_t *send, const iso_buffer_t *receive,
                        struct verdict *verdict)
{
    const iso_operation_t *operation = call.operation;
    struct place place = {0};
    call.root = given->root;
    MPI_CHECK(MPI_Comm_rank(given->comm, &call.rank));
    MPI_CHECK(MPI_Comm_size(given->comm, &call.ranks));
    memset(receive->image, UNLIKE, ISO_VERIFIED_BYTES);
    fill_buffers(&call, given, send->image, receive->image);
    iso_buffer_write(send, 0, ISO_VERIFIED_BYTES);
    iso_buffer_write(receive, 0, ISO_VERIFIED_BYTES);
    bool one_sided = *given->window != MPI_WIN_NULL;
    if (one_sided) {
        iso_pattern_settle(given); /* all have filled their buffers */
    }
    work->operate(given);
    if (one_sided) {
        iso_pattern_settle(given);
    }
    iso_buffer_read(receive, 0, ISO_VERIFIED_BYTES);
    bool at_root = call.rank == call.root;
    bool kept = given->in_place >= 0 && at_root && !operation->root_receives;
    if ((operation->root_receives && !at_root) ||
        (operation->without_own && call.rank == 0) || kept) {
        return;
    }
    for (int k = 0; k < places(&call, given, true, k, &place); k++) {
        int from = operation->receives_all ? place.peer : call.root;
        bool right = holds(&call, receive->image + place.at, place.count, from);
        verdict->blocks++;
        verdict->wrong += !right;
        if (!right && bytes < verdict->bytes) {
            verdict->bytes = bytes;
        }
    }
}

/* --- one subject --------------------------------------------------------- */

/** Blocks of an operation that are tried, none of them twice. */
static int choose_sizes(const iso_context_t *ctx, const iso_subject_t *one,
                        const iso_op_request_t *request,
                        const iso_sizes_t *sizes, long long tried[SIZES])
{
    const iso_operation_t *operation = one->operation;
    const iso_element_t *element = iso_op_request_element(request, operation);
    long long most = ISO_VERIFIED_BYTES, in_all = ISO_VERIFIED_ALL / ctx->size;
    most = ctx->clock.simulated && in_all < most ? in_all : most;
    const iso_block_rules_t *rules = &request->blocks;
    double blocks = fmax(iso_blocks_room(rules, operation, false, one->ranks),
                         iso_blocks_room(rules, operation, true, one->ranks));
    long long elements = (long long)(most / blocks) /
                         (long long)element->extent / iso_subject_block(one, 1);
    elements = elements < 1 ? 1 : elements;
    int count = 0;
    for (int k = 0; k < SIZES; k++) {
        long long bytes = sizes->bytes[k * (sizes->count - 1) / (SIZES - 1)];
        long long cut = elements * (long long)element->size;
        bytes = bytes < cut ? bytes : cut;
        bool known = bytes == 0 || operation->empty;
        for (int j = 0; j < count; j++) {
            known = known || tried[j] == bytes;
        }
        if (!known) {
            tried[count++] = bytes;
        }
    }
    return count;
}

/** The algorithm that the note says was forced for an operation; may be NULL.
 *  @param length  receives that of the name */
static const char *forced(const iso_context_t *ctx, const char *operation,
                          int *length)
{
    static const char key[] = "algorithm=";
    size_t own = strlen(operation);
    for (int k = 0; ctx->notes[k]; k++) {
        const char *rest = ctx->notes[k] + strlen(key);
        if (strncmp(ctx->notes[k], key, strlen(key)) != 0) {
            continue;
        }
        for (; *rest; rest += strcspn(rest, ","), rest += *rest == ',') {
            if (strncmp(rest, operation, own) == 0 && rest[own] == '=') {
                *length = (int)strcspn(rest + own + 1, ",");
                return rest + own + 1;
            }
        }
    }
    return NULL;
}

static void name(const iso_context_t *ctx, const iso_subject_t *one,
                 char text[NAME])
{
    char word[ISO_FORM_WORD];
    int length = 0;
    const char *algorithm = forced(ctx, one->operation->name, &length);
    if (one->grid) {
        iso_grid_word(one->grid, word);
        snprintf(text, NAME, "%s on the grid %s%s", one->operation->name, word,
                 one->phase == NULL ? ""
                 : one->phase->rows ? ", CG"
                                    : ", LG");
    } else if (algorithm && one->form == ISO_BLOCKING) {
        snprintf(text, NAME, "%s by the algorithm %.*s", one->operation->name,
                 length < NAME / 2 ? length : NAME / 2, algorithm);
    } else {
        iso_form_word(one->operation, one->form, word);
        snprintf(text, NAME, "%s of the library", word);
    }
}

static void warn(const iso_context_t *ctx, const iso_subject_t *one,
                 const struct verdict *verdict)
{
    char named[NAME];
    name(ctx, one, named);
    iso_record_wrong_result(
        ctx->record,
        "%s returns wrong data and was not timed: %lld of %lld blocks differ, "
        "first at %lld bytes",
        named, verdict->wrong, verdict->blocks, verdict->bytes);
}

/** Remove the wrong ones; return their number, phases not counted. */
static int take_off(const iso_context_t *ctx, iso_subjects_t *subjects,
                    const struct verdict *verdicts)
{
    int kept = 0, wrong = 0;
    iso_subject_t whole = {0};
    for (int k = 0; k < subjects->count; k++) {
        iso_subject_t one = subjects->items[k];
        if (whole.phase == NULL && one.phase != NULL &&
            one.operation == whole.operation && one.grid == whole.grid) {
            continue; /* it is a part of what is removed */
        }
        if (verdicts[k].wrong == 0) {
            subjects->items[kept++] = one;
            continue;
        }
        whole = one;
        wrong++;
        if (ctx->rank == 0) {
            warn(ctx, &one, &verdicts[k]);
        }
    }
    subjects->count = kept;
    return wrong;
}

int iso_verified(const iso_context_t *ctx, iso_subjects_t *subjects,
                 const iso_op_request_t *request, const iso_sizes_t *sizes,
                 void *self,
                 iso_work_t (*work_of)(void *self, const iso_subject_t *one,
                                       long long bytes,
                                       const iso_buffer_t *send,
                                       const iso_buffer_t *receive))
{
    size_t count = subjects->count;
    struct verdict *verdicts = ISO_NEW(struct verdict, count);
    iso_buffer_t send =
        iso_buffer_create(ISO_VERIFIED_BYTES + MARGIN, ISO_SENT);
    iso_buffer_t receive =
        iso_buffer_create(ISO_VERIFIED_BYTES + MARGIN, ISO_RECEIVED);
    for (size_t k = 0; k < count; k++) {
        const iso_subject_t *one = &subjects->items[k];
        long long tried[SIZES];
        int number = choose_sizes(ctx, one, request, sizes, tried);
        struct seen call = {.operation = one->operation,
                            .element =
                                iso_op_request_element(request, one->operation),
                            .maximum = strcmp(request->reduction, "max") == 0};
        verdicts[k].bytes = INT64_MAX;
        for (int s = 0; s < number; s++) {
            iso_work_t work = work_of(self, one, tried[s], &send, &receive);
            long long block = iso_subject_block(one, tried[s]);
            call.count = block / (long long)call.element->size;
            if (work.rotating) {
                work.calls[0].root = s * (ctx->size - 1) / (SIZES - 1);
            }
            for (int c = 0; c < work.count; c++) {
                verify_call(&work, &work.calls[c], call, block, &send, &receive,
                            &verdicts[k]);
            }
        }
        iso_plain_allreduce(ctx->control, &verdicts[k].blocks, 2, MPI_LONG_LONG,
                            MPI_SUM);
        iso_plain_reduce(ctx->control, &verdicts[k].bytes, 1, MPI_LONG_LONG,
                         MPI_MIN);
    }
    int wrong = take_off(ctx, subjects, verdicts);
    iso_buffer_free(&receive);
    iso_buffer_free(&send);
    free(verdicts);
    return wrong;
}
