/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file matching.c
 * Times a receive that a library finds behind n others that do not match, over
 * n: what a long queue costs (K. Underwood, R. Brightwell, The Impact of MPI
 * Queue Usage on Message Latency, ICPP 2004). Between the first and the last
 * rank, on one communicator; all other ranks sleep.
 *
 *     posted      both ranks have posted n receives from each other, with tags
 *                 of their own: a message is compared with them when it arrives
 *     wildcard    the same with MPI_ANY_SOURCE
 *         start = now
 *         Send; Recv               (partner: Recv; Send)
 *         time = (now - start) / 2
 *
 *     unexpected  n messages, with tags of their own, have arrived before
 *         until the message has arrived: Probe for one that was sent after it
 *         start = now
 *         Recv
 *         time = now - start
 *
 * Batches of unexpected messages have arrived together before the first is
 * received. What is in the queue is completed after the samples of a pass.
 */
#include "base/check.h"
#include "base/words.h"
#include "machine/own_collectives.h"
#include "runfile/record.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

enum { MAX_ENTRIES = 16384, MAX_SUBJECTS = 3 * ISO_MAX_SIZES, UNTIMED = 2 };

/* Far from the tags of other messages; those of a queue all differ. */
enum { TAG_DATA = 1401, TAG_GO, TAG_LAST, FIRST_ENTRY = 2000 };

typedef enum queue { POSTED, WILDCARD, UNEXPECTED, QUEUES } queue_t;

static const char *const queue_names[QUEUES] = {"posted", "wildcard",
                                                "unexpected"};

static struct {
    iso_sizes_t sizes, entries;
    const char *queues;
} options;

static const iso_option_t own_options[] = {
    {"queue", ISO_OPTION_TEXT, "QUEUE,...", "posted,wildcard,unexpected",
     "what is in the queue: posted receives, posted receives from any source "
     "(wildcard), unexpected messages",
     &options.queues},
    {"entries", ISO_OPTION_SIZES, "N,...", "0,1,4,16,64,256,1024",
     "entries in the queue that do not match, at most 16384", &options.entries},
    {"bytes", ISO_OPTION_SIZES, "SIZES", "8",
     "bytes of the message that is timed", &options.sizes},
    {0},
};

static const iso_option_t *const all_options[] = {
    own_options, iso_sweep_options, iso_time_limit_options, iso_sampler_options,
    NULL};

/** A queue of a length, a subject of the sweep. */
struct subject {
    queue_t queue;
    int entries;
};

static bool listed[QUEUES]; /* as --queue says */

/** Read --queue. @return 0, or -1 with an error text */
static int parse_queues(char *error)
{
    const char *rest = options.queues, *word;
    size_t length;
    while ((word = iso_words_next(&rest, &length))) {
        int queue = 0;
        while (queue < QUEUES &&
               !iso_word_is(word, length, queue_names[queue])) {
            queue++;
        }
        if (queue == QUEUES) {
            return ISO_REFUSE(error,
                              "--queue: '%.*s' is no queue (give posted, "
                              "wildcard or unexpected)",
                              (int)(length < 40 ? length : 40), word);
        }
        listed[queue] = true;
    }
    return 0;
}

static int check(char *error)
{
    if (iso_sizes_largest(&options.entries) > MAX_ENTRIES) {
        return ISO_REFUSE(error, "--entries is 0 to %d", MAX_ENTRIES);
    }
    return parse_queues(error) ? -1 : iso_sweep_check(error);
}

static double memory(int ranks)
{
    return 2. * iso_sizes_largest(&options.sizes);
}

/* --- the queue ----------------------------------------------------------- */

struct state {
    const iso_context_t *ctx;
    int partner;
    bool leads;
    struct subject subjects[MAX_SUBJECTS];
    int count;
    char *out, *in;              /**< the message that is timed */
    int sent[MAX_ENTRIES];       /**< entries: their numbers */
    int received[MAX_ENTRIES];   /**< likewise */
    MPI_Request of[MAX_ENTRIES]; /**< each entry of the queue */
};

/** Put the entries into the queues of the two ranks. */
static void fill(struct state *s, const struct subject *subject)
{
    int source = subject->queue == WILDCARD ? MPI_ANY_SOURCE : s->partner;
    for (int k = 0; k < subject->entries; k++) {
        s->received[k] = -1;
        if (subject->queue != UNEXPECTED) {
            MPI_CHECK(MPI_Irecv(&s->received[k], 1, MPI_INT, source,
                                FIRST_ENTRY + k, s->ctx->comm, &s->of[k]));
        } else if (!s->leads) {
            MPI_CHECK(MPI_Isend(&s->sent[k], 1, MPI_INT, s->partner,
                                FIRST_ENTRY + k, s->ctx->comm, &s->of[k]));
        }
    }
}

/** Complete the entries. @return how many a rank has received wrong data for */
static long drain(struct state *s, const struct subject *subject)
{
    bool unexpected = subject->queue == UNEXPECTED;
    bool receives = !unexpected || s->leads;
    long wrong = 0;
    for (int k = 0; k < subject->entries; k++) {
        if (!unexpected) {
            MPI_CHECK(MPI_Send(&s->sent[k], 1, MPI_INT, s->partner,
                               FIRST_ENTRY + k, s->ctx->comm));
        } else if (s->leads) {
            MPI_CHECK(MPI_Recv(&s->received[k], 1, MPI_INT, s->partner,
                               FIRST_ENTRY + k, s->ctx->comm,
                               MPI_STATUS_IGNORE));
        }
    }
    if (!unexpected || !s->leads) {
        MPI_CHECK(MPI_Waitall(subject->entries, s->of, MPI_STATUSES_IGNORE));
    }
    for (int k = 0; receives && k < subject->entries; k++) {
        wrong += s->received[k] != k;
    }
    return wrong;
}

/* --- the timed loops ----------------------------------------------------- */

static void send(const struct state *s, int bytes)
{
    MPI_Send(s->out, bytes, MPI_BYTE, s->partner, TAG_DATA, s->ctx->comm);
}

static void receive(const struct state *s, int bytes)
{
    MPI_Recv(s->in, bytes, MPI_BYTE, s->partner, TAG_DATA, s->ctx->comm,
             MPI_STATUS_IGNORE);
}

static double round_trips(const struct state *s, int bytes, long long batch)
{
    double start = iso_now();
    for (long long b = 0; b < batch; b++) {
        if (s->leads) {
            send(s, bytes);
            receive(s, bytes);
        } else {
            receive(s, bytes);
            send(s, bytes);
        }
    }
    return (iso_now() - start) / 2;
}

/** The leading rank receives what has arrived. */
static double arrived(const struct state *s, int bytes, long long batch)
{
    MPI_Comm comm = s->ctx->comm;
    double start = 0;
    if (s->leads) {
        MPI_Send(NULL, 0, MPI_BYTE, s->partner, TAG_GO, comm);
        MPI_Probe(s->partner, TAG_LAST, comm, MPI_STATUS_IGNORE);
        start = iso_now();
        for (long long b = 0; b < batch; b++) {
            receive(s, bytes);
        }
        double seconds = iso_now() - start;
        MPI_Recv(NULL, 0, MPI_BYTE, s->partner, TAG_LAST, comm,
                 MPI_STATUS_IGNORE);
        return seconds;
    }
    MPI_Request *requests = ISO_NEW(MPI_Request, batch + 1);
    MPI_Recv(NULL, 0, MPI_BYTE, s->partner, TAG_GO, comm, MPI_STATUS_IGNORE);
    for (long long b = 0; b < batch; b++) {
        MPI_Isend(s->out, bytes, MPI_BYTE, s->partner, TAG_DATA, comm,
                  &requests[b]);
    }
    MPI_Isend(NULL, 0, MPI_BYTE, s->partner, TAG_LAST, comm, &requests[batch]);
    MPI_Waitall((int)batch + 1, requests, MPI_STATUSES_IGNORE);
    free(requests);
    return 0;
}

/** Do a task. @return how many entries held wrong data on this rank */
static long measure(struct state *s, const struct subject *subject,
                    const iso_task_t *task, double *seconds)
{
    double (*timed)(const struct state *, int, long long) =
        subject->queue == UNEXPECTED ? arrived : round_trips;
    int bytes = (int)task->bytes;
    fill(s, subject);
    for (int k = 0; k < UNTIMED; k++) { /* both have filled their queues */
        timed(s, bytes, 1);
    }
    for (long long k = 0; k < task->samples; k++) {
        seconds[k] = timed(s, bytes, task->batch) / task->batch;
    }
    return drain(s, subject);
}

/* --- verification -------------------------------------------------------- */

enum { UNLIKE = 0xa5 };

static char byte_of(int rank, long long at)
{
    return (char)(31 * (rank % 2 + 1) + at % 97);
}

/** Whether a subject delivers what was sent, on this rank. */
static bool delivers(struct state *s, const struct subject *subject)
{
    iso_task_t task = {
        .bytes = iso_sizes_largest(&options.sizes), .samples = 1, .batch = 1};
    bool receives = subject->queue != UNEXPECTED || s->leads;
    double seconds;
    memset(s->in, UNLIKE, task.bytes);
    bool right = measure(s, subject, &task, &seconds) == 0;
    for (long long k = 0; receives && k < task.bytes; k++) {
        right = right && s->in[k] == byte_of(s->leads ? 1 : 0, k);
    }
    return right;
}

/** Take the subjects that deliver wrong data off the list. Collective.
 *  @return whether there were any */
static bool verify(struct state *s, bool involved)
{
    int right = 0, wrong[MAX_SUBJECTS] = {0};
    for (int k = 0; involved && k < s->count; k++) {
        wrong[k] = !delivers(s, &s->subjects[k]);
    }
    iso_plain_allreduce(s->ctx->control, wrong, s->count, MPI_INT, MPI_MAX);
    for (int k = 0; k < s->count; k++) {
        if (!wrong[k]) {
            s->subjects[right++] = s->subjects[k];
        } else if (s->ctx->rank == 0) {
            iso_record_wrong_result(
                s->ctx->record, "%s, %d entries: wrong data; not timed",
                queue_names[s->subjects[k].queue], s->subjects[k].entries);
        }
    }
    bool any = right < s->count;
    s->count = right;
    return any;
}

/* --- what the sweep asks ------------------------------------------------- */

static bool takes_part(void *self, int subject, int rank)
{
    return rank == 0 || rank == ((struct state *)self)->ctx->size - 1;
}

static bool reports(void *self, int subject, int rank)
{
    return rank == 0;
}

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    struct state *s = self;
    if (measure(s, &s->subjects[task->subject], task, seconds) > 0) {
        ISO_FAIL("an entry of a queue has received the wrong message");
    }
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    const struct state *s = self;
    const struct subject *subject = &s->subjects[task->subject];
    ISO_MEMBERS(s->ctx->record, ("op", queue_names[subject->queue]),
                ("entries", subject->entries));
}

static void list_subjects(struct state *s)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        for (int k = 0; listed[queue] && k < options.entries.count; k++) {
            s->subjects[s->count++] =
                (struct subject){queue, (int)options.entries.bytes[k]};
        }
    }
}

static iso_outcome_t run(iso_context_t *ctx)
{
    struct state *s = ISO_NEW(struct state, 1);
    size_t room = iso_sizes_largest(&options.sizes) + 1;
    bool involved = takes_part(&(struct state){.ctx = ctx}, 0, ctx->rank);
    s->ctx = ctx;
    s->leads = ctx->rank == 0;
    s->partner = s->leads ? ctx->size - 1 : 0;
    s->out = iso_calloc(room, 1);
    s->in = iso_calloc(room, 1);
    for (size_t k = 0; k < room; k++) {
        s->out[k] = byte_of(s->leads ? 0 : 1, k);
    }
    for (int k = 0; k < MAX_ENTRIES; k++) {
        s->sent[k] = k;
    }
    list_subjects(s);
    ctx->failed = verify(s, involved);
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = s,
        .subjects = s->count,
        .sizes = &options.sizes,
        .takes_part = takes_part,
        .reports = reports,
        .perform = perform,
        .record = record,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    free(s->in);
    free(s->out);
    free(s);
    return outcome;
}

static const char *const by[] = {"op", "entries", NULL};

const iso_experiment_t iso_experiment_matching = {
    .name = "matching",
    .summary = "receives behind others that do not match, by their number",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .resolve = iso_sampler_resolve,
    .memory = memory,
    .quantity_text = "half a round trip; unexpected: receive of a message that "
                     "has arrived",
    .run = run,
};
