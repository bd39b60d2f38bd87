/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file program.h
 * What the ranks of applications do, as a text that Isochrone writes.
 *
 * One line each, words separated by one blank, a path to the end of its line:
 *
 *     isochrone-program 1
 *     seed 7
 *     placement disjoint | shared-nodes | shared-cores
 *     values INDEX COUNT V V V ...        equally likely; seconds or bytes
 *     app INDEX NAME ranks COUNT iterations N background 0|1
 *     on APP RANK RANK ...                ranks of the job it asks for
 *     phase APP INDEX NAME METHOD [PATH]  message, shared-memory, posix-file,
 *                                         mpi-file
 *     steps APP RANK                      of one iteration, until the next such
 *       compute PHASE VALUES FACTOR cpu|spin|sleep
 *       send PHASE TO VALUES              and isend
 *       recv PHASE FROM VALUES            and irecv
 *       wait PHASE
 *       serve PHASE REQUEST REPLY TIME MODE CLIENT CLIENT ...
 *       farm PHASE TASKS TASK RESULT WORKER WORKER ...
 *       work PHASE MASTER TASK RESULT TIME FACTOR MODE
 *       collective PHASE OP VALUES ROOT GRID|- [RANK RANK ...]
 *     run REPEAT APP APP ...              in the order in which they are done
 *     end
 *
 * Indices count from 0 in the order of the lines; blanks at the begin of a line
 * mean nothing. What the steps mean, and which draw each makes, is said in
 * program.py of isochrone/workloads/applications.
 */
#ifndef ISO_APP_PROGRAM_H
#define ISO_APP_PROGRAM_H

#endif
