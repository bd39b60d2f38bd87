/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* CLOCK_THREAD_CPUTIME_ID */
#include "recorder/recorder.h"

#include "preload/program.h"
#include "recorder/communicators.h"
#include "recorder/requests.h"
#include "recorder/writing.h"
#include "recording/memory.h"
#include "recording/output.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** Whether calls are recorded; changes in MPI_Init and MPI_Finalize only. */
static bool recording;
static iso_recording_t all;

/** Protects the recording, if threads call MPI at the same time. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static bool several_threads;

static __thread iso_thread_t *own_thread;

/** Seconds that asking takes: the system for processor time, MPI for the time.
 */
static double cost_of_asking, cost_of_looking;

static void lock(void)
{
    if (several_threads) {
        pthread_mutex_lock(&one_at_a_time);
    }
}

static void unlock(void)
{
    if (several_threads) {
        pthread_mutex_unlock(&one_at_a_time);
    }
}

/* --- processor time ------------------------------------------------------- */

static double ask_processor(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/** Find out what asking takes, undisturbed: the least of several times. */
static void calibrate(void)
{
    cost_of_asking = cost_of_looking = 1;
    for (int k = 0; k < 50; k++) {
        double a = PMPI_Wtime(), b = PMPI_Wtime();
        ask_processor();
        double c = PMPI_Wtime();
        cost_of_looking = b - a < cost_of_looking ? b - a : cost_of_looking;
        cost_of_asking = c - b < cost_of_asking ? c - b : cost_of_asking;
    }
    cost_of_asking -= cost_of_looking;
    cost_of_asking = cost_of_asking > 0 ? cost_of_asking : 0;
}

/** Reckon the processor time of this thread at this moment. */
static void reckon(iso_thread_t *thread, double now)
{
    double passed = now - thread->seen;
    thread->guessed += passed;
    thread->seen = now;
    if (thread->guessed <= ISO_TRUST) {
        thread->processor += passed;
        return;
    }
    thread->processor = ask_processor();
    thread->guessed = 0;
    thread->readings++;
    thread->seen += cost_of_asking / 2; /* it is true in the middle of asking */
}

/** The computation since the last call ended, without our own. */
static double computed(iso_thread_t *thread, double now)
{
    double before = thread->processor;
    reckon(thread, now);
    double gap = thread->processor - before - cost_of_looking -
                 cost_of_asking / 2 * thread->readings;
    return gap > 0 ? gap : 0;
}

/* --- calls ---------------------------------------------------------------- */

static iso_thread_t *begin_thread(void)
{
    iso_thread_t *thread = iso_zeroed(sizeof(*thread));
    iso_sequence_begin(&thread->sequence, ISO_LIMIT);
    lock();
    thread->number = all.threads ? all.threads->number + 1 : 0;
    thread->next = all.threads;
    all.threads = thread;
    unlock();
    thread->seen = PMPI_Wtime();
    thread->processor = ask_processor();
    return own_thread = thread;
}

iso_call_t iso_call_begin(void)
{
    iso_call_t call = {0};
    if (!recording || (own_thread && own_thread->inside)) {
        return call;
    }
    double now = PMPI_Wtime();
    iso_thread_t *thread = own_thread ? own_thread : begin_thread();
    double gap = computed(thread, now);
    thread->computation += gap;
    thread->gap += gap;
    thread->inside = true;
    call.on = true;
    call.begin = now;
    return call;
}

bool iso_call_end(iso_call_t *call, int code)
{
    call->code = code;
    if (!call->on) {
        return false;
    }
    call->end = PMPI_Wtime();
    own_thread->calls++;
    own_thread->communication += call->end - call->begin;
    lock();
    return code == MPI_SUCCESS;
}

int iso_call_done(iso_call_t *call)
{
    if (call->on) {
        unlock();
        double now = PMPI_Wtime();
        own_thread->own += now - call->end;
        own_thread->readings = 0;
        own_thread->inside = false;
        reckon(own_thread, now);
    }
    return call->code;
}

bool iso_thread_requests(long begun)
{
    own_thread->open += begun;
    return own_thread->open > 0;
}

void iso_set_aside(iso_call_t *call, const iso_event_t *event)
{
    iso_totals_add(&all.totals, event, call->end - call->begin);
}

void iso_event_store(iso_call_t *call, const iso_event_t *event)
{
    iso_set_aside(call, event);
    if (iso_op_effects[event->op] != ISO_ASIDE) {
        iso_sequence_add(&own_thread->sequence, event, own_thread->gap,
                         call->end - call->begin);
        own_thread->gap = 0;
    }
}

/* --- beginning and end ---------------------------------------------------- */

void iso_recorder_begin(void)
{
    static bool begun; /* by a Fortran function that called the C function */
    int level = 0;
    if (begun) {
        return;
    }
    begun = true;
    if (!iso_output_requested("ISOCHRONE_RECORD", &all.path)) {
        return;
    }
    PMPI_Query_thread(&level);
    several_threads = level == MPI_THREAD_MULTIPLE;
    all.totals = iso_totals();
    iso_communicators_begin();
    iso_requests_begin();
    calibrate();
    all.began = PMPI_Wtime();
    begin_thread();
    recording = true;
}

void iso_recorder_end(void)
{
    if (!recording) {
        return;
    }
    recording = false;
    all.ended = PMPI_Wtime();
    if (own_thread) { /* computation after its last call */
        double rest = computed(own_thread, all.ended);
        own_thread->computation += rest;
        own_thread->gap += rest;
    }
    iso_writing(&all, cost_of_asking + 2 * cost_of_looking);
    while (all.threads) {
        iso_thread_t *gone = all.threads;
        all.threads = gone->next;
        iso_sequence_end(&gone->sequence);
        free(gone);
    }
    own_thread = NULL;
    iso_totals_free(&all.totals);
    iso_requests_end();
    iso_communicators_end();
    free(all.path);
}

/* --- of the library ------------------------------------------------------- */

const char *const iso_program_library = "isochrone-record";

void iso_program_begins(void)
{
    iso_recorder_begin();
}

void iso_program_ends(void)
{
    iso_recorder_end();
}
