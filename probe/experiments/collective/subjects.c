/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/subjects.h"

#include "base/check.h"
#include "collectives/on_grid.h"

#include <limits.h>
#include <math.h>

/** Subjects of an operation on a grid, and buffers of a realisation. */
enum { OF_A_GRID = 5, EXTRA = 2 };

/** Whether blocks of so many bytes fit, where a call may take @a most. */
static bool fits(const iso_op_request_t *request, long long bytes,
                 long long most)
{
    for (int k = 0; k < request->operation_count; k++) {
        const iso_grid_phase_t *phases =
            iso_grid_operation_find(request->operations[k]->name)->phases;
        for (int f = 0; f < 2; f++) {
            bool many = phases[f].times_rows || phases[f].times_length;
            if (many && bytes > INT_MAX / most) {
                return false;
            }
        }
    }
    return true;
}

/** How many ranks have room on a grid, filled or not, and the most blocks of a
 *  call: those that the last rank of a short row moves for others. */
static long long room_of(const iso_grid_t *grid, int ranks, long long *most)
{
    *most = grid->rows > grid->length ? grid->rows : grid->length;
    if (grid->kind == ISO_GRID_NODES) {
        *most = 1; /* known only where it runs */
    }
    if (grid->kind != ISO_GRID_ROWS_OF || grid->length >= ranks) {
        return ranks;
    }
    long long length = grid->length, rows = (ranks + length - 1) / length;
    long long last = ranks - (rows - 1) * length;
    long long moved = last * (rows + (length - last) * (rows - 1));
    *most = moved > ranks ? moved : ranks;
    return rows * length;
}

int iso_subjects_check(const iso_op_request_t *request, long long largest,
                       int ranks, char *error)
{
    for (int k = 0; k < request->grid_count; k++) {
        long long most;
        room_of(&request->grids[k], ranks, &most);
        if (!fits(request, largest, most)) {
            char word[ISO_GRID_WORD];
            iso_grid_word(&request->grids[k], word);
            return ISO_REFUSE(error,
                              "--grid %s: --bytes %lld on %d ranks exceeds the "
                              "int count of a call (give smaller --bytes)",
                              word, largest, ranks);
        }
    }
    return 0;
}

double iso_subjects_memory(const iso_op_request_t *request, double bytes,
                           int ranks)
{
    double most = 0, room = ranks;
    for (int g = 0; g < request->grid_count; g++) {
        long long blocks;
        room = fmax(room, room_of(&request->grids[g], ranks, &blocks));
    }
    for (int k = 0; k < request->operation_count; k++) {
        const iso_operation_t *operation = request->operations[k];
        const iso_element_t *element =
            iso_op_request_element(request, operation);
        bool all = operation->sends_all || operation->receives_all;
        const iso_block_rules_t *rules = &request->blocks;
        double own = bytes * element->extent / element->size *
                     (iso_blocks_room(rules, operation, false, ranks) +
                      iso_blocks_room(rules, operation, true, ranks));
        if (request->grid_count >
            0) { /* both buffers hold the largest of all */
            own = (2 + EXTRA) * bytes * (all ? room : 1);
        }
        most = fmax(most, own);
    }
    return most;
}

/* --- the list ------------------------------------------------------------ */

static void add_phase(iso_subjects_t *list, const iso_subject_t *whole,
                      const iso_grid_phase_t *phase, bool rooted)
{
    const iso_arrangement_t *arranged = whole->arranged;
    int groups = phase->rows ? arranged->rows : rooted ? 1 : arranged->longest;
    iso_subject_t one = *whole;
    one.phase = phase;
    one.call = one.operation->call;
    one.ranks =
        phase->rows ? arranged->lengths[arranged->row_of[0]] : arranged->rows;
    one.groups = 1;
    list->items[list->count++] = one;
    if (groups > 1) {
        one.ranks = phase->rows ? arranged->longest : arranged->rows;
        one.groups = groups;
        one.together = true;
        list->items[list->count++] = one;
    }
}

static void add_on_grid(iso_subjects_t *list, const iso_subject_t *library,
                        const iso_grid_t *grid,
                        const iso_arrangement_t *arranged)
{
    const iso_grid_operation_t *in_phases =
        iso_grid_operation_find(library->operation->name);
    iso_subject_t whole = *library;
    whole.grid = grid;
    whole.arranged = arranged;
    whole.call = iso_on_grid(library->operation);
    list->items[list->count++] = whole;
    if (arranged->rows > 1 && arranged->longest > 1) {
        add_phase(list, &whole, &in_phases->phases[0], in_phases->rooted);
        add_phase(list, &whole, &in_phases->phases[1], in_phases->rooted);
    }
}

/** Arrange the ranks; NULL for a grid that does not apply to this machine. */
static const iso_arrangement_t *arrange(iso_subjects_t *list,
                                        const iso_op_request_t *request, int k,
                                        long long largest, MPI_Comm comm)
{
    const iso_grid_t *grid = &request->grids[k];
    const iso_arrangement_t *arranged = NULL;
    const char *why = NULL;
    MPI_CHECK(iso_arrangement_of(comm, grid, &arranged));
    if (arranged->rows > 1 && arranged->longest > 1 && !arranged->complete) {
        ISO_FAIL("the MPI library cannot create the communicators of a grid");
    }
    if (grid->kind != ISO_GRID_NODES) {
        return arranged;
    }
    if (arranged->rows == 1) {
        why = "all ranks are on one node";
    } else if (arranged->longest == 1) {
        why = "each node has one rank";
    } else if (!fits(request, largest, arranged->most_blocks)) {
        why = "a call would exceed the int count of MPI";
    }
    if (why) {
        list->left_out = k;
        snprintf(list->why, sizeof(list->why), "grid 'nodes' skipped: %s", why);
    }
    return why ? NULL : arranged;
}

/** Add the forms of an operation of the library that it has. */
static void add_forms(iso_subjects_t *list, const iso_subject_t *library,
                      const bool forms[ISO_FORMS])
{
    if (forms[ISO_BLOCKING]) {
        list->items[list->count++] = *library;
    }
    for (int f = ISO_BLOCKING + 1; f < ISO_FORMS; f++) {
        iso_subject_t one = *library;
        one.form = f;
        one.begin = iso_form_begin(one.operation, f);
        one.call = f < ISO_PUT ? iso_form_complete : one.begin;
        if (forms[f] && one.begin) {
            list->items[list->count++] = one;
        }
        list->lacks_persistent |= forms[f] && !one.begin;
    }
}

void iso_subjects_create(iso_subjects_t *list, const iso_op_request_t *request,
                         long long largest, MPI_Comm comm)
{
    const iso_arrangement_t *arranged[ISO_MAX_OP_REQUESTS] = {NULL};
    int most = request->operation_count *
               (ISO_FORMS + OF_A_GRID * request->grid_count);
    int size;
    MPI_CHECK(MPI_Comm_size(comm, &size));
    list->items = ISO_NEW(iso_subject_t, most);
    list->count = 0;
    list->left_out = -1;
    for (int g = 0; g < request->grid_count; g++) {
        arranged[g] = arrange(list, request, g, largest, comm);
    }
    for (int k = 0; k < request->operation_count; k++) {
        const iso_operation_t *operation = request->operations[k];
        iso_subject_t library = {.operation = operation,
                                 .call = operation->call,
                                 .ranks = size,
                                 .groups = 1};
        add_forms(list, &library, request->forms);
        for (int g = 0; g < request->grid_count; g++) {
            if (arranged[g]) {
                add_on_grid(list, &library, &request->grids[g], arranged[g]);
            }
        }
    }
}

/* --- one of them --------------------------------------------------------- */

long long iso_subject_block(const iso_subject_t *subject, long long bytes)
{
    const iso_grid_phase_t *phase = subject->phase;
    if (phase == NULL) {
        return bytes;
    }
    return bytes * (phase->times_rows ? subject->arranged->rows : 1) *
           (phase->times_length ? subject->arranged->longest : 1);
}

/** Whether a rank is a member of a column, or substitutes for one. */
static bool in_column(const iso_arrangement_t *arranged, int rank, int column)
{
    int place = arranged->column_of[rank];
    int last = arranged->lengths[arranged->row_of[rank]] - 1;
    return place == column || (place == last && last < column);
}

bool iso_subject_works(const iso_subject_t *subject, int rank)
{
    const iso_arrangement_t *arranged = subject->arranged;
    if (subject->phase == NULL) {
        return true;
    }
    if (subject->phase->rows) {
        return subject->together ||
               arranged->row_of[rank] == arranged->row_of[0];
    }
    return subject->together ||
           in_column(arranged, rank, arranged->column_of[0]);
}

int iso_subject_groups(const iso_subject_t *subject, MPI_Comm comm,
                       iso_call_t *calls)
{
    const iso_arrangement_t *arranged = subject->arranged;
    int count = 0;
    if (subject->phase == NULL) {
        calls[0].comm = comm;
        return 1;
    }
    if (!iso_subject_works(subject, arranged->rank)) {
        return 0;
    }
    int own = arranged->column_of[0]; /* the column of the root */
    if (subject->phase->rows) {
        int last = arranged->lengths[arranged->row_of[arranged->rank]] - 1;
        calls[0].comm = arranged->row;
        calls[0].root = own < last ? own : last;
        return 1;
    }
    for (int k = 0; k < arranged->longest; k++) {
        if (in_column(arranged, arranged->rank, k) &&
            (subject->together || k == own)) {
            calls[count].comm = arranged->columns[k];
            calls[count].root = arranged->row_of[0];
            count++;
        }
    }
    return count;
}
