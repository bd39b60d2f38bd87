/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file report.h
 * What the interposer says, all of it by rank 0 of MPI_COMM_WORLD on standard
 * error: lines, and if ISOCHRONE_TUNING_REPORT is 1 there, how often each rule
 * was followed and what it saved by the points of the table.
 */
#pragma once

#include "interposer/table.h"

/** Print "isochrone-grid: " and a line, at rank 0. */
void iso_report_line(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/** Start counting, if a report is requested. */
void iso_report_begin(const iso_table_t *table);

/** Count a call for which a rule was followed. */
void iso_report_choice(const iso_rule_t *rule, long long bytes);

/** Count a call that went to the library. */
void iso_report_pass(iso_tunable_t operation);

/** Print the report, if requested.
 *  @param left  whether reductions used the library */
void iso_report_end(bool left);
