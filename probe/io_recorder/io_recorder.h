/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file io_recorder.h
 * The recording of every intercepted file access:
 *
 *     iso_access_t access = iso_access_begin(file, ISO_COLLECTIVE, ISO_AT, 0);
 *     return iso_access_end(&access, next(...), "MPI_File_write_at_all", true,
 *                           count, type, NULL);
 *
 * Accesses nested in another one are not recorded.
 */
#pragma once

#include "io_recorder/clocks.h"
#include "io_recorder/open_files.h"
#include "io_recorder/shapes.h"
#include "io_recorder/timing.h"

enum {
    ISO_MAX_CALLS = 1 << 16,       /**< recorded of a rank */
    ISO_MAX_STORED_SLOTS = 1 << 19 /**< of all of them; 8 MiB */
};

/** How an access specifies its offset. */
typedef enum {
    ISO_AT,      /**< by an offset in the view */
    ISO_HERE,    /**< at the pointer of the rank */
    ISO_UNKNOWN, /**< at the pointer of all, or only known later */
} iso_where_t;

typedef struct {
    bool on; /**< it is noted */
    iso_call_t call;
    bool known; /**< where it is, of a collective one */
    bool write; /**< of the end of one that is split */
    MPI_File handle;
    MPI_Offset offset; /**< in etypes of the view */
    double begin;
} iso_access_t;

/** A recorded collective access, as rank 0 receives it. */
typedef struct {
    iso_open_id_t file;
    int sequence; /**< among those of the file, the same at all ranks */
    int shape, rounds;
    int first_slot, slots; /**< in the list of all */
    unsigned char write, parts_known, too_many, placed;
    char name[32];
    uint64_t hash; /**< of the shape */
    int64_t base;  /**< offset of the first piece */
    int64_t bytes, pieces;
    double begin, seconds, offsets;
    double left; /**< end of the collective call just before; or 0 */
} iso_io_call_t;

/** A nonblocking access that was started. */
typedef struct {
    int file;     /**< among those of this rank */
    int sequence; /**< among the collective calls of the file */
    int recorded; /**< among the recorded calls; -1: not there */
    iso_call_t call;
    bool write;
    double begin;
} iso_started_t;

/** What was recorded at this rank. */
typedef struct {
    char *path; /**< of the run file, at rank 0 */
    double began, ended;
    iso_clocks_t clocks;
    iso_account_t account;
    double left;          /**< the end of the last call, if collective; or 0 */
    unsigned char before; /**< the last call: twice its kind, and its op */
    iso_open_files_t files;
    iso_shapes_t shapes;
    iso_io_call_t *calls;
    int call_count, call_room;
    iso_slot_t *slots;
    int slot_count, slot_room;
    int64_t calls_left_out;
    bool messages_seen, file_seen; /**< what the library called was, ever */
} iso_io_recording_t;

iso_access_t iso_access_begin(MPI_File file, iso_call_t call, iso_where_t where,
                              MPI_Offset offset);

/**
 * It is over.
 *
 * @param name   of the call; without the end of one that is split
 * @param write  or it was read
 * @param count  elements of a datatype that were accessed
 * @param request  of an access that is nonblocking, else NULL
 * @return @a code
 */
int iso_access_end(iso_access_t *access, int code, const char *name, bool write,
                   int64_t count, MPI_Datatype type,
                   const MPI_Request *request);

/** The end of an access that is split: its time belongs to the beginning. */
void iso_access_completed(const iso_access_t *access);

/** The program waited for a nonblocking access or tested it, from and to these
 *  times, with @a seconds in system calls; @a done: it is complete. */
void iso_access_awaited(const iso_started_t *started, double begin, double end,
                        double seconds, bool done);

/** Files are opened, looked at, changed in size, written to disk, closed. */
iso_open_id_t iso_file_opening(MPI_Comm comm, bool outermost);
void iso_file_opened(iso_open_id_t id, const char *name, MPI_Info given,
                     MPI_File file);

/** Such a call is over: count its time. */
void iso_file_called(MPI_File file, iso_call_t call, double begin, double end);
void iso_file_viewed(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                     MPI_Datatype filetype, const char *representation,
                     MPI_Info given);
void iso_file_closed(MPI_File file);

/** Calls nested in an intercepted call are not recorded. @return whether this
 * is the outermost */
bool iso_outermost(void);
void iso_outermost_ends(void);

/** After MPI_Init and before MPI_Finalize. Collective. */
void iso_io_begins(void);
void iso_io_ends(void);
