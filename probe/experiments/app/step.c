/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/step.h"

#include "base/options.h"
#include "experiments/app/program.h"

#include <math.h>
#include <string.h>

enum { DOUBLE = sizeof(double) };

const char *const iso_mode_names[] = {"cpu", "spin", "sleep", NULL};

static const char *const names[] = {"compute", "send",  "send", "recv", "recv",
                                    "wait",    "serve", "farm", "work"};

const char *iso_step_name(const iso_step_t *step)
{
    return step->kind == ISO_STEP_COLLECTIVE ? step->operation->name
                                             : names[step->kind];
}

iso_step_t iso_step_read(const iso_program_t *program, const int *words)
{
    char error[ISO_ERROR_LENGTH];
    iso_step_t step = {
        .kind = (iso_step_kind_t)words[0],
        .phase = words[1],
        .peer = words[2],
        .size = words[3],
        .answer = words[4],
        .time = words[5],
        .factor = program->numbers[words[6]],
        .mode = (iso_compute_mode_t)words[7],
        .tasks = words[8],
        .count = words[9],
        .list = words[9] ? words + ISO_STEP_WORDS : NULL,
    };
    if (step.kind == ISO_STEP_COLLECTIVE) {
        const char *name = program->texts + step.answer;
        const char *grid = program->texts + step.tasks;
        step.operation = iso_operation_find(name, strlen(name));
        if (step.operation && step.operation->varying) { /* equal blocks */
            name = step.operation->like;
            step.operation = iso_operation_find(name, strlen(name));
        }
        step.on_grid =
            *grid && !iso_grid_parse(grid, strlen(grid), &step.grid, error);
    }
    if (step.kind == ISO_STEP_REPEAT) {
        step.every = step.peer;
        step.length = step.time;
    }
    step.schedule = step.kind == ISO_STEP_COMPUTE ? step.tasks - 1 : -1;
    return step;
}

static void add_collective(iso_needs_t *needs, const iso_app_t *app,
                           const iso_step_t *step, double bytes)
{
    const iso_operation_t *o = step->operation;
    double ranks = step->count ? step->count : app->ranks;
    bytes += o->reduces ? DOUBLE : 0; /* sizes are rounded up to doubles */
    needs->send = fmax(needs->send, o->sends_all ? bytes * ranks : bytes);
    needs->receive =
        fmax(needs->receive, o->receives_all ? bytes * ranks : bytes);
}

void iso_needs_add(iso_needs_t *needs, const iso_program_t *program,
                   const iso_app_t *app, const iso_step_t *step)
{
    bool any = program->value_count > 0; /* a wait needs none */
    double size = any ? program->values[step->size].most : 0;
    /* of a collective, that word is its name */
    bool answers = step->kind == ISO_STEP_FARM ||
                   step->kind == ISO_STEP_SERVE || step->kind == ISO_STEP_WORK;
    double answer = answers ? program->values[step->answer].most : 0;
    switch (step->kind) {
    case ISO_STEP_SEND:
    case ISO_STEP_ISEND:
        needs->send = fmax(needs->send, size);
        break;
    case ISO_STEP_RECV:
        needs->receive = fmax(needs->receive, size);
        break;
    case ISO_STEP_IRECV:
        needs->arriving += size;
        needs->pending = fmax(needs->pending, needs->arriving);
        break;
    case ISO_STEP_WAIT:
        needs->arriving = 0;
        break;
    case ISO_STEP_FARM:
        needs->send = fmax(needs->send, size);
        needs->receive = fmax(needs->receive, answer);
        break;
    case ISO_STEP_SERVE:
    case ISO_STEP_WORK:
        needs->receive = fmax(needs->receive, size);
        needs->send = fmax(needs->send, answer);
        break;
    case ISO_STEP_COLLECTIVE:
        add_collective(needs, app, step, size);
        break;
    case ISO_STEP_COMPUTE:
    case ISO_STEP_REPEAT:
        break;
    }
}

size_t iso_step_channels(const iso_step_t *step)
{
    switch (step->kind) {
    case ISO_STEP_SEND:
    case ISO_STEP_ISEND:
    case ISO_STEP_RECV:
    case ISO_STEP_IRECV:
        return 1;
    case ISO_STEP_SERVE:
    case ISO_STEP_FARM:
        return 2 * (size_t)step->count;
    case ISO_STEP_WORK:
        return 2;
    default:
        return 0;
    }
}
