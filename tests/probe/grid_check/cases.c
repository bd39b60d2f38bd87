/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"

#include "base/random.h"
#include "base/sizes.h"
#include "call.h"
#include "counted.h"
#include "elements.h"

#include "grid/arrangement.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 64, CASES_OF_A_COMMUNICATOR = 6, ALL_ELEMENTS = 9 };

#ifdef GRID_CHECK_PLAIN
static const bool only_plain = true;
#else
static const bool only_plain = false;
#endif

/** Ranks that work together in some cases. */
typedef struct team {
    int size, rank; /**< rank -1: not in it */
    MPI_Comm comm;
    int nodes[MAX_RANKS]; /**< of its ranks */
} team_t;

/** A case, the same at all ranks but for what is said. */
typedef struct test_case {
    operation_t operation;
    iso_grid_t grid;
    int root, units; /**< units: of the signature, in a block */
    bool in_place, small;
    MPI_Op op;
    const char *op_name;
    const element_t *send, *receive;
    uint64_t seed; /**< of the data; differs from rank to rank */
} test_case_t;

static bool reduces(operation_t o)
{
    return o == REDUCE || o == ALLREDUCE || o == REDUCE_SCATTER_BLOCK;
}

static bool has_root(operation_t o)
{
    return o == BCAST || o == GATHER || o == SCATTER || o == REDUCE;
}

/** Ranks of a row, or number of nodes: seldom one or all of them, with which
 * the library is left alone. */
static int make_length(uint64_t *random, int size)
{
    return size < 4 || iso_random_below(random, 10) == 0
               ? 1 + iso_random_below(random, size)
               : 2 + iso_random_below(random, size - 2);
}

/** Choose ranks of the world, in any order, and put them on nodes. */
static team_t make_team(uint64_t *random)
{
    int world, me, order[MAX_RANKS];
    team_t team = {.rank = -1};
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    team.size = iso_random_below(random, 3)
                    ? world
                    : 1 + iso_random_below(random, world);
    bool shuffle = iso_random_below(random, 2);
    for (int k = 0; k < world; k++) {
        int j = shuffle ? iso_random_below(random, k + 1) : k;
        order[k] = order[j];
        order[j] = k;
    }
    int nodes = make_length(random, team.size);
    bool blocks = iso_random_below(random, 3) == 0;
    for (int k = 0; k < team.size; k++) {
        team.nodes[k] =
            blocks ? k * nodes / team.size : iso_random_below(random, nodes);
        team.rank = order[k] == me ? k : team.rank;
    }
    MPI_Comm_split(MPI_COMM_WORLD, team.rank < 0 ? MPI_UNDEFINED : 0, team.rank,
                   &team.comm);
    if (team.rank >= 0) {
        MPI_Comm_set_errhandler(team.comm, MPI_ERRORS_RETURN);
    }
    return team;
}

static iso_grid_t make_grid(uint64_t *random, int size)
{
    char word[ISO_GRID_WORD], error[ISO_ERROR_LENGTH];
    iso_grid_t grid;
    int length = make_length(random, size);
    int kind = iso_random_below(random, 3);
    if (kind == 0 && size % length == 0) {
        snprintf(word, sizeof(word), "%dx%d", size / length, length);
    } else if (kind < 2) {
        snprintf(word, sizeof(word), "rows-of-%d", length);
    } else {
        snprintf(word, sizeof(word), "nodes");
    }
    if (iso_grid_parse(word, strlen(word), &grid, error) != 0) {
        fprintf(stderr, "%s\n", error);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    return grid;
}

/** Whether elements lie one after the other, from where they begin. Others
 *  overrun the memory of SimGrid's own operations. */
static bool is_plain(const element_t *e)
{
    bool plain = e->low == 0;
    for (int f = 0; f < e->fields; f++) {
        plain = plain && e->at[f] < e->extent;
    }
    return plain;
}

/** An element of a family with so many fields; 0: any number. */
static const element_t *pick(uint64_t *random, family_t family, int fields)
{
    for (;;) {
        const element_t *e = element(iso_random_below(random, ALL_ELEMENTS));
        if (e->family == family && (fields == 0 || e->fields == fields) &&
            (is_plain(e) || !only_plain)) {
            return e;
        }
    }
}

/**
 * Whether MPICH's own operation can do it. It writes beyond its own memory
 * in MPI_Reduce_scatter_block of operations that do not commute, where elements
 * lie within each other (4.0) or, on a power of two of ranks, end in a gap.
 */
static bool libraries_can(const test_case_t *t, int size)
{
    MPI_Aint extent = t->send->extent;
    bool power_of_two = (size & (size - 1)) == 0;
    bool in_order = t->op == op_affine && t->operation == REDUCE_SCATTER_BLOCK;
    return !(in_order && (extent < 8 || (extent > 8 && power_of_two)));
}

/** An operation that reduces, and what it is done to. */
static void make_reduction(uint64_t *random, test_case_t *t, int size)
{
    static const char *const names[] = {
        "sum of int", "max of int", "xor of int", "sum of double",
        "minloc",     "affine",     "affine",     "add"};
    int kind = iso_random_below(random, 8);
    const MPI_Op ops[] = {MPI_SUM,    MPI_MAX,   MPI_BXOR,  MPI_SUM,
                          MPI_MINLOC, op_affine, op_affine, op_add};
    t->op = ops[kind];
    t->op_name = names[kind];
    t->small = kind != 3 || iso_random_below(random, 2);
    if (only_plain && t->units == 0) {
        t->units = 6; /* SimGrid divides by it */
    }
    do {
        t->send = kind < 3    ? element(0)
                  : kind == 3 ? element(6)
                  : kind == 4 ? element(7)
                  : kind < 7  ? pick(random, INTS, 2)
                              : pick(random, INTS, 0);
    } while (!libraries_can(t, size));
    t->receive = t->send;
}

static test_case_t make_case(uint64_t *random, const team_t *team)
{
    static const int units[] = {0,  6,  6,  12, 12, 18, 30, 60,
                                60, 96, 96, 96, 96, 96, 6,  600};
    test_case_t t = {.operation = iso_random_below(random, OPERATIONS)};
    t.grid = make_grid(random, team->size);
    t.root = iso_random_below(random, team->size);
    t.units = units[iso_random_below(random, 16)];
    t.in_place = iso_random_below(random, 3) == 0 && t.operation != BCAST;
    t.op = MPI_OP_NULL;
    t.op_name = "";
    t.small = true;
    if (t.operation == REDUCE && t.in_place && t.units > 96) {
        t.units = 96; /* MPICH 4.0 fails with more than 2 KiB in place */
    }
    if (reduces(t.operation)) {
        make_reduction(random, &t, team->size);
    } else {
        family_t family = iso_random_below(random, 4) ? INTS : PAIRS;
        t.send = pick(random, family, 0);
        t.receive = pick(random, family, 0);
    }
    if (t.send->family == PAIRS && t.units > 96) {
        t.units = 96; /* MPICH fails with 600 of MPI_DOUBLE_INT */
    }
    t.seed = iso_random_next(random) + 977u * (uint64_t)(team->rank + 1);
    return t;
}

/** Elements in a block. */
static int count_of(const test_case_t *t, const element_t *e)
{
    return t->units / (e->family == INTS ? e->fields : 1);
}

/** Arguments that do not matter at a rank are senseless. */
static arguments_t make_arguments(const test_case_t *t, const team_t *team,
                                  const region_t *send, const region_t *receive)
{
    bool root = team->rank == t->root, rooted = has_root(t->operation);
    bool in_place = t->in_place && (root || !rooted);
    arguments_t a = {.send = send->origin,
                     .send_count = count_of(t, send->element),
                     .send_type = send->element->type,
                     .receive = receive->origin,
                     .receive_count = count_of(t, receive->element),
                     .receive_type = receive->element->type,
                     .op = t->op,
                     .root = t->root,
                     .comm = team->comm};
    if (in_place && t->operation == SCATTER) {
        a.receive = MPI_IN_PLACE;
        a.receive_count = 0;
    } else if (in_place) {
        a.send = MPI_IN_PLACE;
        a.send_count = 0;
    }
    if (t->operation == SCATTER && !root) {
        a.send = NULL;
        a.send_count = 0;
    }
    if (t->operation == GATHER && !root) {
        a.receive = NULL;
        a.receive_count = 0;
    }
    if (t->operation == REDUCE && !root) {
        a.receive = NULL;
    }
    return a;
}

/** Whether doubles that were added in another order are close enough. */
static bool close_enough(const test_case_t *t, const team_t *team,
                         const region_t *send, const region_t *start,
                         const region_t *mine, const region_t *theirs)
{
    region_t values = region_copy(send), sums = region_copy(start);
    region_absolute(&values);
    region_absolute(&sums);
    arguments_t a = make_arguments(t, team, &values, &sums);
    call(t->operation, &a, NULL);
    bool root = team->rank == t->root || t->operation != REDUCE;
    region_t shown = sums;
    if (t->operation == REDUCE_SCATTER_BLOCK) {
        shown.count = t->units;
    }
    region_t got = *mine, wanted = *theirs;
    got.count = wanted.count = shown.count;
    bool close =
        !root || region_close(&got, &wanted, &shown, team->size * DBL_EPSILON);
    region_free(&values);
    region_free(&sums);
    return close;
}

/** Run a case both ways. @return whether all bytes are the same */
static bool run_case(const test_case_t *t, const team_t *team)
{
    bool odd = t->operation == BCAST && team->rank % 2;
    const element_t *to = odd ? t->send : t->receive;
    bool sends_all = t->operation == SCATTER || t->operation == ALLTOALL ||
                     t->operation == REDUCE_SCATTER_BLOCK;
    bool receives_all = t->operation == GATHER || t->operation == ALLGATHER ||
                        t->operation == ALLTOALL ||
                        (t->operation == REDUCE_SCATTER_BLOCK && t->in_place);
    region_t send = region_make(
        t->send, count_of(t, t->send) * (sends_all ? team->size : 1), t->seed,
        t->small);
    region_t start =
        region_make(to, count_of(t, to) * (receives_all ? team->size : 1),
                    t->seed + 1, t->small);
    region_t sent = region_copy(&send);
    region_t theirs = region_copy(&start), mine = region_copy(&start);
    arguments_t a = make_arguments(t, team, &send, &theirs);
    arguments_t b = make_arguments(t, team, &send, &mine);
    int error = call(t->operation, &a, NULL);
    int other = call(t->operation, &b, &t->grid);
    if (error != MPI_SUCCESS || other != MPI_SUCCESS) {
        fprintf(stderr, "error %d of the library, %d on a grid\n", error,
                other);
    }
    bool same =
        error == other && memcmp(send.memory, sent.memory, send.size) == 0;
    if (t->small || !reduces(t->operation)) {
        same = same && region_equal(&mine, &theirs);
    } else {
        same = close_enough(t, team, &send, &start, &mine, &theirs) && same;
    }
    region_free(&send);
    region_free(&start);
    region_free(&sent);
    region_free(&theirs);
    region_free(&mine);
    return same;
}

/** Whether it was done in two phases. */
static bool had_phases(const test_case_t *t, const team_t *team)
{
    const iso_arrangement_t *a = NULL;
    return t->units > 0 &&
           iso_arrangement_of(team->comm, &t->grid, &a) == MPI_SUCCESS &&
           a->complete;
}

static void describe(int number, const test_case_t *t, const team_t *team)
{
    char word[ISO_GRID_WORD];
    iso_grid_word(&t->grid, word);
    fprintf(stderr,
            "case %d, rank %d of %d: %s on the grid %s: root %d, "
            "units %d, send %s, receive %s, %s%s; nodes",
            number, team->rank, team->size, operation_names[t->operation], word,
            t->root, t->units, t->send->name, t->receive->name, t->op_name,
            t->in_place ? ", in place" : "");
    for (int k = 0; k < team->size; k++) {
        fprintf(stderr, " %d", team->nodes[k]);
    }
    fputc('\n', stderr);
}

int cases_run(uint64_t seed, int first, int count)
{
    int wrong = 0, rank, all_wrong = 0, phases = 0, all_phases = 0;
    int ran[OPERATIONS] = {0}, all_ran[OPERATIONS];
    team_t team = {.comm = MPI_COMM_NULL};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int number = first; number < first + count; number++) {
        int group = number / CASES_OF_A_COMMUNICATOR;
        if (number == first || number % CASES_OF_A_COMMUNICATOR == 0) {
            uint64_t random = seed * 1000003u + (uint64_t)group;
            if (team.comm != MPI_COMM_NULL) {
                MPI_Comm_free(&team.comm);
            }
            team = make_team(&random);
            counted_nodes = team.nodes;
        }
        uint64_t random = seed * 7919u + (uint64_t)number * 104729u;
        test_case_t t = make_case(&random, &team);
        if (team.rank == 0 && getenv("GRID_CHECK_VERBOSE")) {
            describe(number, &t, &team);
        }
        if (team.rank >= 0 && !run_case(&t, &team)) {
            describe(number, &t, &team);
            wrong++;
        }
        if (team.rank == 0) {
            ran[t.operation]++;
            phases += had_phases(&t, &team);
        }
    }
    if (team.comm != MPI_COMM_NULL) {
        MPI_Comm_free(&team.comm);
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&phases, &all_phases, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(ran, all_ran, OPERATIONS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int o = 0; o < OPERATIONS && rank == 0; o++) {
        printf("%s %d\n", operation_names[o], all_ran[o]);
    }
    if (rank == 0) {
        printf("phases %d\ndiffer %d\n", all_phases, all_wrong);
    }
    return all_wrong;
}
