/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/verified.h"

#include "base/check.h"
#include "machine/own_collectives.h"

enum { SIZES = 3, DOUBLE = sizeof(double), UNLIKE = 0xa5, NAME = 120 };

/** Result of the verification of a subject, over all calls and ranks. */
struct verdict {
    long long blocks, wrong, bytes; /**< bytes: of the first wrong block */
};

/** One call, seen from one rank. */
struct seen {
    const iso_operation_t *operation;
    int rank, ranks, root;
    long long numbers, bytes; /**< of a block: one of them, the other is 0 */
};

/* --- what blocks hold ---------------------------------------------------- */

static uint8_t byte_of(int from, int to, long long at)
{
    uint32_t mixed = (uint32_t)from * 2654435761u + (uint32_t)to * 40503u +
                     (uint32_t)at * 2246822519u + 374761393u;
    return (uint8_t)((mixed ^ (mixed >> 15)) >> 8);
}

/** What a rank adds is its number, from 1 on, times this. */
static double factor_of(int to, long long at)
{
    return (1 + to % 7 + at % 13);
}

static void fill(const struct seen *call, char *block, int to)
{
    for (long long k = 0; k < call->numbers; k++) {
        double value = (call->rank + 1) * factor_of(to, k);
        memcpy(block + k * DOUBLE, &value, DOUBLE);
    }
    for (long long k = 0; k < call->bytes; k++) {
        block[k] = (char)byte_of(call->rank, to, k);
    }
}

static bool holds(const struct seen *call, const char *block, int from)
{
    int to = call->operation->sends_all ? call->rank : 0;
    double last =
        call->operation->of_those_before ? call->rank + 1 : call->ranks;
    for (long long k = 0; k < call->numbers; k++) {
        double value = last * (last + 1) / 2 * factor_of(to, k);
        if (memcmp(block + k * DOUBLE, &value, DOUBLE) != 0) {
            return false;
        }
    }
    for (long long k = 0; k < call->bytes; k++) {
        if (block[k] != (char)byte_of(from, to, k)) {
            return false;
        }
    }
    return true;
}

/* --- one call ------------------------------------------------------------ */

static int blocks_of(bool all, int ranks)
{
    return all ? ranks : 1;
}

/** Call it, and count the blocks that this rank receives. */
static void verify_call(const iso_subject_t *one, const iso_work_t *work,
                        const iso_call_t *given, long long bytes,
                        const iso_buffer_t *send, const iso_buffer_t *receive,
                        struct verdict *verdict)
{
    const iso_operation_t *operation = one->operation;
    struct seen call = {.operation = operation,
                        .root = given->root,
                        .numbers = operation->reduces ? bytes / DOUBLE : 0,
                        .bytes = operation->reduces ? 0 : bytes};
    MPI_CHECK(MPI_Comm_rank(given->comm, &call.rank));
    MPI_CHECK(MPI_Comm_size(given->comm, &call.ranks));
    int sent = blocks_of(operation->sends_all, call.ranks);
    int received = blocks_of(operation->receives_all, call.ranks);
    memset(receive->image, UNLIKE, (received * bytes));
    for (int to = 0; to < sent; to++) {
        fill(&call, send->image + to * bytes, to);
    }
    if (operation->in_one_buffer && call.rank == call.root) {
        fill(&call, receive->image, 0);
    }
    iso_buffer_write(send, 0, sent * bytes);
    iso_buffer_write(receive, 0, received * bytes);
    work->operate(given);
    iso_buffer_read(receive, 0, received * bytes);
    if (operation->root_receives && call.rank != call.root) {
        return;
    }
    for (int k = 0; k < received; k++) {
        int from = operation->receives_all ? k : call.root;
        bool right = holds(&call, receive->image + k * bytes, from);
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
                        const iso_sizes_t *sizes, long long tried[SIZES])
{
    const iso_operation_t *operation = one->operation;
    long long most = ISO_VERIFIED_BYTES, in_all = ISO_VERIFIED_ALL / ctx->size;
    most = ctx->clock.simulated && in_all < most ? in_all : most;
    most /=
        blocks_of(operation->sends_all || operation->receives_all, one->ranks) *
        iso_subject_block(one, 1);
    most = most < DOUBLE ? DOUBLE : most / DOUBLE * DOUBLE;
    int count = 0;
    for (int k = 0; k < SIZES; k++) {
        long long bytes = sizes->bytes[k * (sizes->count - 1) / (SIZES - 1)];
        bytes = bytes < most ? bytes : most;
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
    char word[ISO_GRID_WORD];
    int length = 0;
    const char *algorithm = forced(ctx, one->operation->name, &length);
    if (one->grid) {
        iso_grid_word(one->grid, word);
        snprintf(text, NAME, "%s on the grid %s%s", one->operation->name, word,
                 one->phase == NULL ? ""
                 : one->phase->rows ? ", CG"
                                    : ", LG");
    } else if (algorithm) {
        snprintf(text, NAME, "%s by the algorithm %.*s", one->operation->name,
                 length < NAME / 2 ? length : NAME / 2, algorithm);
    } else {
        snprintf(text, NAME, "%s of the library", one->operation->name);
    }
}

static void warn(const iso_context_t *ctx, const iso_subject_t *one,
                 const struct verdict *verdict)
{
    char text[400], named[NAME];
    name(ctx, one, named);
    snprintf(text, sizeof(text),
             "%s returns wrong data and was not timed: %lld of %lld blocks "
             "differ, first at %lld bytes",
             named, verdict->wrong, verdict->blocks, verdict->bytes);
    iso_record_warning(ctx->record, "wrong-result", "%s", text);
    iso_complain("%s", text);
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
                 const iso_sizes_t *sizes, void *self,
                 iso_work_t (*work_of)(void *self, const iso_subject_t *one,
                                       long long bytes,
                                       const iso_buffer_t *send,
                                       const iso_buffer_t *receive))
{
    size_t count = subjects->count, size = sizeof(struct verdict);
    struct verdict *verdicts = iso_calloc(count, size);
    iso_buffer_t send = iso_buffer_create(ISO_VERIFIED_BYTES, ISO_SENT);
    iso_buffer_t receive = iso_buffer_create(ISO_VERIFIED_BYTES, ISO_RECEIVED);
    for (size_t k = 0; k < count; k++) {
        const iso_subject_t *one = &subjects->items[k];
        long long tried[SIZES];
        int number = choose_sizes(ctx, one, sizes, tried);
        verdicts[k].bytes = INT64_MAX;
        for (int s = 0; s < number; s++) {
            iso_work_t work = work_of(self, one, tried[s], &send, &receive);
            long long block = iso_subject_block(one, tried[s]);
            if (work.rotating) {
                work.calls[0].root = s * (ctx->size - 1) / (SIZES - 1);
            }
            for (int c = 0; c < work.count; c++) {
                verify_call(one, &work, &work.calls[c], block, &send, &receive,
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
