/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* strsignal, gethostname, sigtimedwait */
#include "machine/watchdog.h"

#include "base/check.h"
#include "machine/clock.h"
#include "machine/heartbeat.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/** Signals by which a launcher may ask a rank for something. */
static const int passed_on[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};
enum { PASSED_ON = ISO_LENGTH(passed_on) };

/** Identity of a rank, sent to its watchdog. */
typedef struct {
    int rank; /**< -1: not known yet */
    char host[MPI_MAX_PROCESSOR_NAME];
} iso_identity_t;

/** Seconds that other watchers have to say the same, and that a rank has to
 *  end: one that hangs in the kernel does not. */
enum { OTHERS_SAY = 5, TO_END = 10 };

static int watcher = -1; /* the pipe to it */

/** Let those who look for ranks, with ps or pgrep, not find watchers. */
static void look_different(int argc, char **argv)
{
    static const char name[] = "watcher";
    size_t length = strlen(argv[0]);
    for (int k = 1; k < argc; k++) {
        memset(argv[k], 0, strlen(argv[k]));
    }
    memset(argv[0], 0, length);
    memcpy(argv[0], name, length < sizeof(name) ? length : sizeof(name) - 1);
#ifdef __linux__
    prctl(PR_SET_NAME, name, 0, 0, 0);
#endif
}

/** The rank that the launcher has given, as long as MPI has not; -1: unknown */
static int rank_by_launcher(void)
{
    static const char *const names[] = {"PMIX_RANK", "PMI_RANK",
                                        "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
    for (size_t k = 0; k < ISO_LENGTH(names); k++) {
        const char *text = getenv(names[k]);
        if (text != NULL && *text >= '0' && *text <= '9') {
            return atoi(text);
        }
    }
    return -1;
}

/** Whether the rank has come out of MPI_Init, and has said who it is. */
static bool is_known(iso_identity_t *who, int channel)
{
    if (who->rank < 0 && read(channel, who, sizeof(*who)) != sizeof(*who)) {
        who->rank = -1;
    }
    return who->rank >= 0;
}

/** Say what became of the rank: "rank 3 on n2 ...". */
static void say(iso_identity_t *who, int channel, const char *what)
{
    if (!is_known(who, channel)) {
        gethostname(who->host, sizeof(who->host) - 1);
    }
    char rank[32] = "a rank";
    int number = who->rank >= 0 ? who->rank : rank_by_launcher();
    if (number >= 0) {
        snprintf(rank, sizeof(rank), "rank %d", number);
    }
    fprintf(stderr, "isochrone-probe: %s on %s %s\n", rank, who->host, what);
    fflush(stderr);
}

static void say_signal(iso_identity_t *who, int channel, const char *what,
                       int number)
{
    char text[160];
    snprintf(text, sizeof(text), "was %s by signal %d (%s)", what, number,
             strsignal(number));
    say(who, channel, text);
}

/** Time without progress. Only rank 0, the coordinator, must make progress all
 * the time; before ranks are known, all must. */
typedef struct {
    double limit;        /* seconds; 0: for ever */
    double seconds;      /* so far */
    bool said;           /* that it is too long */
    int kills;           /* one a second, until it has ended */
    unsigned long beats; /* when something was done last */
    struct timespec seen;
} iso_silence_t;

/** Count the time since the last look, but not what this process itself was
 *  stopped for. @return whether it is too long */
static bool too_silent(iso_silence_t *s)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double since = (double)(now.tv_sec - s->seen.tv_sec) +
                   1e-9 * (double)(now.tv_nsec - s->seen.tv_nsec);
    unsigned long beats = iso_heartbeat_count();
    s->seconds = beats == s->beats ? s->seconds + (since < 2 ? since : 2) : 0;
    s->beats = beats;
    s->seen = now;
    return s->seconds > s->limit;
}

/** End a silent rank 0. In MPI_Init a rank may wait for another one: every
 * watchdog reports before any ends its rank. */
static void end_the_silent(pid_t rank, iso_identity_t *who, int channel,
                           iso_silence_t *s)
{
    char silent[120], text[200];
    if (s->said) {
        kill(rank, SIGKILL);
        if (++s->kills > TO_END) {
            _exit(128 + SIGKILL); /* the launcher ends the others */
        }
        return;
    }
    s->said = true;
    iso_heartbeat_silent(silent, sizeof(silent));
    if (who->rank < 0) {
        snprintf(text, sizeof(text),
                 "has done nothing for %.0f s: it is still within MPI_Init",
                 s->limit);
        s->limit += OTHERS_SAY;
    } else {
        snprintf(text, sizeof(text), "has done nothing for %.0f s%s%s",
                 s->limit, silent[0] ? ": no answer from " : "", silent);
        kill(rank, SIGKILL);
    }
    say(who, channel, text);
}

/** Sleep until the rank ends. @return its status as of waitpid */
static int wait_for_rank(pid_t rank, iso_identity_t *who, int channel,
                         const sigset_t *awaited, double limit, bool *expected)
{
    const struct timespec second = {.tv_sec = 1};
    iso_silence_t silence = {.limit = limit};
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &silence.seen);
    for (;;) {
        bool listens = silence.limit > 0 && who->rank <= 0;
        int number = listens ? sigtimedwait(awaited, NULL, &second)
                             : sigwaitinfo(awaited, NULL);
        if (number > 0 && number != SIGCHLD) {
            *expected = *expected || number != SIGCONT;
            kill(rank, number);
        }
        pid_t found = waitpid(rank, &status, WNOHANG | WUNTRACED | WCONTINUED);
        if (found == rank && WIFSTOPPED(status)) {
            say_signal(who, channel, "stopped", WSTOPSIG(status));
        } else if (found == rank && WIFCONTINUED(status)) {
            say(who, channel, "goes on");
        } else if (found != 0) {
            return status;
        } else if (listens && who->rank < 0 && is_known(who, channel)) {
            silence.seconds = 0;
            silence.limit = limit;
            silence.said = false;
        } else if (listens && too_silent(&silence)) {
            end_the_silent(rank, who, channel, &silence);
        }
        *expected = *expected || silence.said;
    }
}

/** Wait for the rank, and end as it does. */
static void watch(pid_t rank, int channel, const sigset_t *awaited,
                  double limit)
{
    bool expected = false;
    iso_identity_t who = {.rank = -1};
    int status = wait_for_rank(rank, &who, channel, awaited, limit, &expected);
    if (!WIFSIGNALED(status)) {
        _exit(WEXITSTATUS(status));
    }
    int number = WTERMSIG(status), more;
    const struct timespec now = {0};
    while ((more = sigtimedwait(awaited, NULL, &now)) > 0) {
        expected = expected || (more != SIGCHLD && more != SIGCONT);
    }
    if (!expected) {
        say_signal(&who, channel, "killed", number);
    }
    const struct rlimit no_core = {0, 0}; /* the rank has left one */
    setrlimit(RLIMIT_CORE, &no_core);
    signal(number, SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    raise(number);
    _exit(128 + number);
}

void iso_watchdog_begin(int argc, char **argv, double stall)
{
    int ends[2];
    sigset_t awaited, before;
    struct sigaction usual = {.sa_handler = SIG_DFL}, of_child;
    if (iso_in_simulator() || pipe(ends) != 0) {
        return;
    }
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    for (int k = 0; k < PASSED_ON; k++) {
        sigaddset(&awaited, passed_on[k]);
    }
    sigprocmask(SIG_BLOCK, &awaited, &before);
    sigaction(SIGCHLD, &usual, &of_child); /* ignored, it would not come */
    iso_heartbeat_begin();
    pid_t parent = getpid(), rank = fork();
    if (rank > 0) {
        close(ends[1]);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        look_different(argc, argv);
        watch(rank, ends[0], &awaited, stall);
    }
    sigaction(SIGCHLD, &of_child, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    if (rank < 0) {
        close(ends[1]);
        return;
    }
    watcher = ends[1];
    fcntl(watcher, F_SETFD, FD_CLOEXEC);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
    if (getppid() != parent) {
        _exit(128 + SIGKILL);
    }
}

void iso_watchdog_identify(int rank)
{
    if (watcher < 0) {
        return;
    }
    iso_identity_t me = {.rank = rank};
    int length = 0;
    MPI_CHECK(MPI_Get_processor_name(me.host, &length));
    if (write(watcher, &me, sizeof(me)) != sizeof(me)) {
        close(watcher); /* the watchdog reports */
        watcher = -1;
    }
}
