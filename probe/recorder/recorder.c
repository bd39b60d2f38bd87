/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* CLOCK_THREAD_CPUTIME_ID */
#include "recorder/recorder.h"

#include "preload/process.h"
#include "recorder/communicators.h"
#include "recorder/requests.h"
#include "recorder/sites.h"
#include "recorder/writing.h"
#include "recording/memory.h"
#include "recording/output.h"

#include <pthread.h>
#include <time.h>

static struct {
    bool begun; /**< maybe by a Fortran function that called the C function */
    bool recording;   /**< calls; changes in MPI_Init and MPI_Finalize only */
    MPI_Comm at_exit; /**< of all ranks, for the end without MPI_Finalize */
    iso_recording_t all;
} state[ISO_PROCESSES];
#define OWN (state[iso_process()])

/** Protects the recording, if threads call MPI at the same time. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static bool several_threads;

#ifdef SMPI_H
static iso_thread_t *thread_of[ISO_PROCESSES];
#define own_thread thread_of[iso_process()]
#else
static __thread iso_thread_t *own_thread;
#endif

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
#ifdef SMPI_H
    return PMPI_Wtime(); /* a rank has a processor of its own */
#else
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
#endif
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

/** The computation since the last call ended, without our OWN. */
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
    thread->number = OWN.all.threads ? OWN.all.threads->number + 1 : 0;
    thread->next = OWN.all.threads;
    OWN.all.threads = thread;
    unlock();
    thread->seen = PMPI_Wtime();
    thread->processor = ask_processor();
    return own_thread = thread;
}

iso_call_t iso_call_begin_at(const void *from, const void *frame)
{
    iso_call_t call = {0};
    if (!OWN.recording || (own_thread && own_thread->inside)) {
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
    call.from = from;
    call.frame = frame;
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
    iso_totals_add(&OWN.all.totals, event, call->end - call->begin);
}

void iso_event_store(iso_call_t *call, const iso_event_t *event)
{
    iso_set_aside(call, event);
    if (iso_op_effects[event->op] != ISO_ASIDE) {
        int site = iso_sites_number(call->from, call->frame);
        iso_sequence_add(&own_thread->sequence, event, own_thread->gap,
                         call->end - call->begin, site);
        own_thread->gap = 0;
    }
}

/* --- beginning and end ---------------------------------------------------- */

/** Seconds that ranks wait for the others at the end without MPI_Finalize. */
#define PATIENCE 2.0

/** Write the recording if all ranks end their processes at about the same time;
 *  what others wait for in MPI is not known. */
static void end_without_finalize(void)
{
    MPI_Request request;
    int all_here = 0, rank;
    if (!OWN.recording || (own_thread && own_thread->inside)) {
        return;
    }
    double began = PMPI_Wtime();
    PMPI_Comm_rank(OWN.at_exit, &rank);
    PMPI_Ibarrier(OWN.at_exit, &request);
    while (!all_here && PMPI_Wtime() - began < PATIENCE) {
        PMPI_Test(&request, &all_here, MPI_STATUS_IGNORE);
    }
    if (all_here) {
        OWN.all.partial = true;
        MPI_Comm comm = OWN.at_exit;
        iso_program_ends();
        if (rank == 0) {
            fprintf(stderr,
                    "%s: the program ended without MPI_Finalize: the "
                    "recording is partial\n",
                    iso_program_library);
        }
        PMPI_Barrier(comm); /* the launcher may end them with the first */
    } else {
        fprintf(stderr,
                "%s: rank %d ended without MPI_Finalize, others go on\n",
                iso_program_library, rank);
    }
}

void iso_recorder_forget(void)
{
    OWN.recording = false;
}

void iso_recorder_session(void)
{
    const char *path = getenv("ISOCHRONE_RECORD");
    FILE *made = path ? fopen(path, "wx") : NULL;
    if (made) { /* by one of the ranks; an empty file is removed */
        fprintf(stderr, "%s: sessions of MPI are not recorded\n",
                iso_program_library);
        fclose(made);
    }
}

/** Begin, if ISOCHRONE_RECORD is set at rank 0. */
void iso_program_begins(void)
{
    int level = 0;
    if (OWN.begun) {
        return;
    }
    OWN.begun = true;
    if (!iso_output_requested("ISOCHRONE_RECORD", &OWN.all.path)) {
        return;
    }
    PMPI_Comm_dup(MPI_COMM_WORLD, &OWN.at_exit);
    if (ISO_PROCESSES == 1) { /* else ranks end before the process */
        atexit(end_without_finalize);
    }
    PMPI_Query_thread(&level);
    several_threads = level == MPI_THREAD_MULTIPLE;
    OWN.all.totals = iso_totals();
    iso_communicators_begin();
    iso_requests_begin();
    iso_sites_begin();
    calibrate();
    OWN.all.began = PMPI_Wtime();
    begin_thread();
    OWN.recording = true;
}

/** Write the run file. */
void iso_program_ends(void)
{
    if (!OWN.recording) {
        return;
    }
    OWN.recording = false;
    OWN.all.ended = PMPI_Wtime();
    if (own_thread) { /* computation after its last call */
        double rest = computed(own_thread, OWN.all.ended);
        own_thread->computation += rest;
        own_thread->gap += rest;
    }
    iso_writing(&OWN.all, cost_of_asking + 2 * cost_of_looking);
    while (OWN.all.threads) {
        iso_thread_t *gone = OWN.all.threads;
        OWN.all.threads = gone->next;
        iso_sequence_end(&gone->sequence);
        free(gone);
    }
    own_thread = NULL;
    iso_totals_free(&OWN.all.totals);
    iso_requests_end();
    iso_sites_end();
    iso_communicators_end();
    free(OWN.all.path);
    if (!OWN.all.partial) {
        PMPI_Comm_free(&OWN.at_exit);
    }
}

/* --- of the library ------------------------------------------------------- */

const char *const iso_program_library = "isochrone-record";
