/* SPDX-License-Identifier: BSD-3-Clause */
#include "interposer/report.h"

#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 32 };

static const double PICOSECOND = 1e-12;

/** Of one rule. */
struct count {
    atomic_llong calls, saved; /**< saved: picoseconds */
};

/** At rank 0: the counts of the rules; else NULL. */
static struct count *counts;
static const iso_table_t *table;
static atomic_llong passed[ISO_TUNABLES];

static int rank_of_world(void)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void iso_report_line(const char *format, ...)
{
    char line[1024];
    if (rank_of_world() != 0) {
        return;
    }
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    for (char *c = line; *c; c++) { /* names of files hold anything */
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    }
    fprintf(stderr, "isochrone-grid: %s\n", line);
}

void iso_report_begin(const iso_table_t *in_force)
{
    const char *report = getenv("ISOCHRONE_TUNING_REPORT");
    if (rank_of_world() != 0 || report == NULL || strcmp(report, "1") != 0) {
        return;
    }
    table = in_force;
    counts = calloc((size_t)table->first[ISO_TUNABLES] + 1, sizeof *counts);
}

void iso_report_choice(const iso_rule_t *rule, long long bytes)
{
    if (counts == NULL) {
        return;
    }
    struct count *count = &counts[rule - table->rules];
    double saved = iso_rule_saving(table, rule, bytes) / PICOSECOND;
    count->calls++;
    count->saved += llround(saved);
}

void iso_report_pass(iso_tunable_t operation)
{
    if (counts) {
        passed[operation]++;
    }
}

/** Write bytes as a person reads them. */
static const char *bytes_text(long long bytes, char *text)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, NUMBER, "%lld %s", bytes, units[unit]);
    return text;
}

static const char *seconds_text(double seconds, char *text)
{
    static const char *const units[] = {"s", "ms", "µs", "ns"};
    int unit = 0;
    while (unit < 3 && fabs(seconds) < 1) {
        seconds *= 1000;
        unit++;
    }
    snprintf(text, NUMBER, "%.3g %s", seconds,
             seconds == 0 ? "s" : units[unit]);
    return text;
}

/** Print a rule that was followed; return what it saved, seconds. */
static double print_rule(const iso_rule_t *rule)
{
    struct count *count = &counts[rule - table->rules];
    long long calls = count->calls;
    double saved = count->saved * PICOSECOND;
    char low[NUMBER], high[NUMBER], gain[NUMBER], word[ISO_GRID_WORD];
    if (calls) {
        iso_grid_word(&rule->grid, word);
        iso_report_line("%s, %d ranks, %s to %s: %s, %lld call%s, saved %s",
                        iso_tunable_names[rule->operation], rule->ranks,
                        bytes_text(rule->low, low),
                        bytes_text(rule->high, high), word, calls,
                        calls == 1 ? "" : "s", seconds_text(saved, gain));
    }
    return saved;
}

/** Print the calls of an operation that no rule was for; return their number.
 */
static long long print_passed(iso_tunable_t operation)
{
    long long calls = passed[operation];
    if (calls) {
        iso_report_line("%s: library, %lld call%s",
                        iso_tunable_names[operation], calls,
                        calls == 1 ? "" : "s");
    }
    return calls;
}

/** Say whether sums may differ from those of the library. */
static void print_reductions(bool left)
{
    long long calls = 0;
    for (int k = 0; k < table->first[ISO_TUNABLES]; k++) {
        calls += iso_tunable_reduces(table->rules[k].operation)
                     ? counts[k].calls
                     : 0;
    }
    if (left) {
        iso_report_line("reductions used the library's algorithm");
    } else if (calls) {
        iso_report_line(
            "%lld reductions used a grid: the order of additions changes, last "
            "digits may differ (avoid: --keep-reductions)",
            calls);
    }
}

void iso_report_end(bool left)
{
    long long calls = 0, libraries = 0;
    double saved = 0;
    char text[NUMBER];
    if (counts == NULL) {
        return;
    }
    iso_report_line("calls of rank 0, with %s:", table->path);
    for (int k = 0; k < table->first[ISO_TUNABLES]; k++) {
        saved += print_rule(&table->rules[k]);
        calls += counts[k].calls;
    }
    for (int k = 0; k < ISO_TUNABLES; k++) {
        libraries += print_passed((iso_tunable_t)k);
    }
    print_reductions(left);
    iso_report_line("total: %lld calls on grids, %lld by the library; saved %s "
                    "(estimated from the table)",
                    calls, libraries, seconds_text(saved, text));
    free(counts);
    counts = NULL;
}
