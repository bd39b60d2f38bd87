/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file transfer.h
 * Two ranks move messages: the timed loops of point-to-point and bisection.
 *
 * One rank leads and times, its partner answers. Before a loop they
 * synchronise, and move to different processors if they share one. With W
 * messages in flight (--window), the first line of each mode is what one
 * sample holds:
 *
 *     blocking       W = 1: send; receive            (partner: receive; send)
 *                    W > 1: W sends; receive an empty answer
 *     nonblocking    W = 1: Irecv; Isend; Waitall    (partner: Irecv; Wait;
 *                                                     Isend; Wait)
 *                    W > 1: W Isend; Waitall; receive an empty answer
 *     persistent     the same with Start and Startall
 *     bidirectional  twice: W Irecv; W Isend; Waitall  (partner: the same);
 *                    or twice: Sendrecv, Sendrecv_replace, Startall and Waitall
 *     partitioned    partitioned.h
 *     put, get, ...  W Put; flush                    (partner: waits; other
 *                                                     ways: one_sided.h)
 *     bandwidth      nonblocking, W = 64 unless given
 *
 * Receives are posted before the sends of the same rank; windows are received
 * into W different places, all posted by the partner before it waits.
 *
 * Whatever is timed ends with a message that the partner could not send before
 * the timed messages had reached it; so no sample is shorter than what it
 * times. A single exchange has no such end: see exchange in modes.c.
 */
#pragma once

#include "experiment.h"
#include "messages/message.h"

struct iso_mode;  /* messages/modes.h */
struct iso_epoch; /* messages/one_sided.h */

/** mode, window, partitions, ready, rma-sync, rma-window, layout, stride,
 * cache, cache-bytes. */
extern const iso_option_t iso_transfer_options[];

/** Check these options with each other and with the sizes, of which modes of
 *  one size keep that one. Without sizes, a usual one is taken. */
int iso_transfer_check(iso_sizes_t *sizes, char *error);

/** Check them against the number of ranks, and of those on one node. */
int iso_transfer_check_ranks(int ranks, char *error);
int iso_transfer_check_node(int ranks, int here, char *error);

/** What the seconds of a sample are, in words. */
const char *iso_transfer_quantity(void);

/** Directions in which an operation moves its bytes at once: 1 or 2. */
int iso_transfer_directions(void);

/** Where the messages of an operation go: there and back one after the other,
 *  from the rank that leads to its partner, or both ways. */
typedef enum { ISO_ROUND_TRIP, ISO_EACH_WAY, ISO_BOTH_WAYS } iso_course_t;
iso_course_t iso_transfer_course(void);

/** Whether the loops can stamp when each message came. */
bool iso_transfer_stamps(void);

/** Bytes of memory a rank needs for messages of up to @a largest bytes. */
double iso_transfer_memory(long long largest);

/** Sizes must be multiples of this. */
long long iso_transfer_quantum(void);

typedef struct {
    const iso_context_t *ctx;
    iso_message_t message; /**< of the size at hand */
    int partner;           /**< of the loop at hand */
    int source;            /**< what receives name: the partner, or any */
    int thread;            /**< of those of a rank that share a communicator */
    iso_buffer_t sent, received;
    char *out, *in; /**< where messages lie in these: out_room and in_room
                         bytes */
    size_t out_room, in_room;
    size_t at, step, last; /**< where the next message lies; how far the one
                                after; where to begin again (--cache cold) */
    long window;           /**< messages in flight */
    MPI_Request *requests; /**< receives, then sends: 2 * window */
    double *starts;        /**< blocking: when each sample began, or NULL */
    double *arrivals;      /**< blocking: when each message came, or NULL */
    int partitions;        /**< of a message */
    bool early;            /**< they are ready before, except the last one */
    const struct iso_mode *mode;
    char *region; /**< what the partner writes or reads: `in` if two-sided */
    /* One-sided modes only. */
    const struct iso_epoch *epoch;
    MPI_Win exposed;        /**< all regions */
    MPI_Aint *bases;        /**< displacement of the region at each rank ... */
    MPI_Aint base;          /**< ... and at the partner */
    char *fetched;          /**< what a rank reads: in_room bytes ... */
    iso_buffer_t fetch;     /**< ... here, if not in what it receives */
    long long compared;     /**< compare_and_swap: what is expected there */
    MPI_Group group;        /**< the partner, while a loop runs */
    double target_computes; /**< seconds between its calls of MPI; 0: waits */
} iso_transfer_t;

/** The tags of the messages of a transfer t, 0 to ISO_TAGS - 1: of each thread
 *  its own, and far from those that experiments use. */
enum { ISO_FIRST_TAG = 1102, ISO_TAGS = 4 };
#define ISO_TAG(t, which) (ISO_FIRST_TAG + ISO_TAGS * (t)->thread + (which))

/** The next message lies elsewhere, if the cache is to be cold. */
static inline void iso_transfer_walk(iso_transfer_t *t)
{
    t->at = t->at + t->step > t->last ? 0 : t->at + t->step;
}

/** Make room for messages of up to @a largest bytes. Collective. */
void iso_transfer_init(iso_transfer_t *transfer, const iso_context_t *ctx,
                       long long largest);
void iso_transfer_free(iso_transfer_t *transfer);

/** Prepare for messages of @a bytes with @a partner. Local. */
void iso_transfer_set(iso_transfer_t *transfer, int partner, long long bytes);

/** Wait until the partner is there. @return whether both share a processor */
bool iso_transfer_meet(iso_transfer_t *transfer, bool leads);

/**
 * Lead: take @a samples samples of @a batch operations each.
 *
 * @param seconds  receives the time of each sample: of one operation, as
 *                 iso_transfer_quantity says
 */
void iso_transfer_lead(iso_transfer_t *transfer, long samples, long batch,
                       double *seconds);

/** Answer a partner who leads @a operations operations. */
void iso_transfer_answer(iso_transfer_t *transfer, long operations);
