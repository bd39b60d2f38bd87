/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* sched_setaffinity */
#include "experiments/app/placement.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "runfile/record.h"

#include <sched.h>

static const iso_role_t none = {-1, -1};

/** Ranks still to be placed; 0 if the application requests specific ranks. */
static int open_ranks(const iso_app_t *app)
{
    return app->on_count > 0 ? 0 : app->ranks;
}

/**
 * One application after the other on the ranks that are left.
 *
 * @param fresh  begin each on a node where no other is
 * @return whether there were enough ranks
 */
static bool one_by_one(const iso_context_t *ctx, const iso_program_t *program,
                       iso_role_t *roles, bool fresh)
{
    bool *used = ISO_NEW(bool, ctx->size); /* nodes */
    int missing = 0;
    for (int k = 0; k < program->app_count; k++) {
        for (int r = 0; r < ctx->size; r++) {
            used[ctx->places[r].node] |= roles[r].app >= 0;
        }
        int left = open_ranks(&program->apps[k]);
        int count = left;
        for (int r = 0; r < ctx->size && left > 0; r++) {
            if (roles[r].app < 0 && !(fresh && used[ctx->places[r].node])) {
                roles[r] = (iso_role_t){k, count - left--};
            }
        }
        missing += left;
    }
    free(used);
    return missing == 0;
}

/** In proportion: each free rank goes to the application furthest behind;
 * surplus ranks form an application of their own. */
static void in_proportion(const iso_context_t *ctx,
                          const iso_program_t *program, iso_role_t *roles)
{
    int apps = program->app_count, free_ranks = 0, seen = 0;
    int *wanted = ISO_NEW(int, apps + 1);
    int *given = ISO_NEW(int, apps + 1);
    for (int r = 0; r < ctx->size; r++) {
        free_ranks += roles[r].app < 0;
    }
    wanted[apps] = free_ranks;
    for (int k = 0; k < apps; k++) {
        wanted[k] = open_ranks(&program->apps[k]);
        wanted[apps] -= wanted[k];
    }
    for (int r = 0; r < ctx->size; r++) {
        if (roles[r].app >= 0) {
            continue;
        }
        int most = 0;
        double behind = -1;
        seen++;
        for (int k = 0; k <= apps; k++) {
            double due = (double)wanted[k] * seen / free_ranks - given[k];
            if (given[k] < wanted[k] && due > behind + 1e-9) {
                behind = due;
                most = k;
            }
        }
        roles[r] = most < apps ? (iso_role_t){most, given[most]} : none;
        given[most]++;
    }
    free(wanted);
    free(given);
}

/** Assign the requested ranks, and no others. */
static void reset(const iso_context_t *ctx, const iso_program_t *program,
                  iso_role_t *roles)
{
    for (int r = 0; r < ctx->size; r++) {
        roles[r] = none;
    }
    for (int k = 0; k < program->app_count; k++) {
        const iso_app_t *app = &program->apps[k];
        for (int j = 0; j < app->on_count; j++) {
            roles[app->on[j]] = (iso_role_t){k, j};
        }
    }
}

iso_role_t *iso_placement_roles(const iso_context_t *ctx,
                                const iso_program_t *program)
{
    iso_role_t *roles = ISO_NEW(iso_role_t, ctx->size);
    reset(ctx, program, roles);
    if (program->placement != ISO_PLACE_DISJOINT) {
        in_proportion(ctx, program, roles);
    } else if (!one_by_one(ctx, program, roles, true)) {
        reset(ctx, program, roles);
        one_by_one(ctx, program, roles, false);
    }
    return roles;
}

int **iso_placement_members(const iso_context_t *ctx,
                            const iso_program_t *program,
                            const iso_role_t *roles)
{
    int **members = ISO_NEW(int *, program->app_count + 1);
    members[0] = ISO_NEW(int, program->ranks);
    for (int k = 0; k < program->app_count; k++) {
        members[k + 1] = members[k] + program->apps[k].ranks;
    }
    for (int r = 0; r < ctx->size; r++) {
        if (roles[r].app >= 0) {
            members[roles[r].app][roles[r].rank] = r;
        }
    }
    return members;
}

/* --- records ------------------------------------------------------------- */

static void record_app(iso_record_t *record, const iso_app_t *app, int index,
                       const int *members)
{
    char *ranks = iso_numbers_text(members, app->ranks);
    ISO_RECORD(record, "app", ("app", index), ("name", app->name),
               ("ranks", ranks), ("iterations", app->iterations),
               ("background", app->background));
    free(ranks);
    for (int k = 0; k < app->phase_count; k++) {
        ISO_RECORD(record, "phase", ("app", index), ("phase", k),
                   ("name", app->phases[k].name),
                   ("method", iso_method_names[app->phases[k].method]));
    }
}

/** Whether ranks of two applications are on one node. */
static bool share_a_node(const iso_context_t *ctx, const iso_role_t *roles,
                         int *one, int *other)
{
    int *first = ISO_NEW(int, ctx->size);
    bool found = false;
    for (int r = 0; r < ctx->size && !found; r++) {
        int *app = &first[ctx->places[r].node]; /* from 1 */
        if (roles[r].app >= 0 && *app > 0 && *app != roles[r].app + 1) {
            *one = *app - 1;
            *other = roles[r].app;
            found = true;
        } else if (roles[r].app >= 0) {
            *app = roles[r].app + 1;
        }
    }
    free(first);
    return found;
}

static void warn(const iso_context_t *ctx, const iso_program_t *program,
                 const iso_role_t *roles)
{
    int one = 0, other = 0;
    bool share = share_a_node(ctx, roles, &one, &other);
    if (program->placement == ISO_PLACE_DISJOINT && share) {
        iso_record_warning(
            ctx->record, "shared-nodes",
            "%.80s and %.80s share a node: too few nodes, or requested ranks",
            program->apps[one].name, program->apps[other].name);
    } else if (program->placement != ISO_PLACE_DISJOINT && !share &&
               program->app_count > 1) {
        iso_record_warning(ctx->record, "no-shared-nodes",
                           "no two applications share a node: one rank per "
                           "node, or requested ranks");
    }
    if (program->placement == ISO_PLACE_SHARED_CORES && ctx->clock.simulated) {
        iso_record_warning(ctx->record, "not-bound",
                           "a simulator cannot bind ranks: they share the "
                           "cores of their host");
    }
}

void iso_placement_record(const iso_context_t *ctx,
                          const iso_program_t *program, const iso_role_t *roles,
                          int *const *members)
{
    for (int k = 0; k < program->app_count; k++) {
        record_app(ctx->record, &program->apps[k], k, members[k]);
    }
    warn(ctx, program, roles);
}

/* --- binding ------------------------------------------------------------- */

#ifdef __linux__
/** The k-th of the processors. */
static int nth(const cpu_set_t *set, int k)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, set) && k-- == 0) {
            return cpu;
        }
    }
    return -1;
}

/** Union of the affinity masks of the node's ranks. */
static cpu_set_t processors(MPI_Comm node)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof(all), &all);
    iso_plain_allreduce(node, &all, sizeof(all), MPI_BYTE, MPI_BOR);
    return all;
}

static void bind(MPI_Comm node, int index)
{
    cpu_set_t all = processors(node), own;
    int count = CPU_COUNT(&all);
    CPU_ZERO(&own);
    if (count > 0 && index >= 0) {
        CPU_SET(nth(&all, index % count), &own);
        sched_setaffinity(0, sizeof(own), &own);
    }
}
#endif

void iso_placement_bind(const iso_context_t *ctx, const iso_program_t *program,
                        iso_role_t role)
{
#ifdef __linux__
    MPI_Comm node, mates;
    int index = -1;
    if (program->placement != ISO_PLACE_SHARED_CORES || ctx->clock.simulated) {
        return;
    }
    MPI_CHECK(MPI_Comm_split(ctx->control, ctx->node, ctx->rank, &node));
    MPI_CHECK(MPI_Comm_split(node, role.app >= 0 ? role.app : MPI_UNDEFINED,
                             role.rank, &mates));
    if (role.app >= 0) {
        MPI_CHECK(MPI_Comm_rank(mates, &index));
        MPI_CHECK(MPI_Comm_free(&mates));
    }
    bind(node, index);
    MPI_CHECK(MPI_Comm_free(&node));
#endif
}
