/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/program.h"

#include "base/check.h"

#include <math.h>

const char *const iso_method_names[] = {
    "message", "shared-memory", "posix-file", "mpi-file", "put", "get", NULL};

size_t iso_program_head(const iso_program_header_t *header)
{
    return sizeof(*header) + header->numbers * sizeof(double) +
           header->words * sizeof(int) + header->letters;
}

/** Take a count and as many words. */
static const int *take_list(const int **at, int *count)
{
    const int *list = *at + 1;
    *count = **at;
    *at = list + *count;
    return list;
}

static void load_values(const iso_program_t *program, const int **at,
                        iso_values_t *values)
{
    values->items = program->numbers + *(*at)++;
    values->count = *(*at)++;
    for (int k = 0; k < values->count; k++) {
        values->most = fmax(values->most, values->items[k]);
    }
}

static void load_app(const iso_program_t *program, const int **at,
                     iso_app_t *app)
{
    app->name = program->texts + *(*at)++;
    app->ranks = *(*at)++;
    app->iterations = *(*at)++;
    app->background = *(*at)++;
    app->on = take_list(at, &app->on_count);
    app->phase_count = *(*at)++;
    app->phases = ISO_NEW(iso_app_phase_t, app->phase_count);
    for (int k = 0; k < app->phase_count; k++, *at += 3) {
        const char *path = program->texts + (*at)[2];
        app->phases[k].name = program->texts + (*at)[0];
        app->phases[k].method = (iso_method_t)(*at)[1];
        app->phases[k].path = *path ? path : NULL;
    }
    app->begin = *at;
    *at += app->ranks + 1;
}

void iso_program_load(iso_program_t *program, void *memory)
{
    const iso_program_header_t *header = memory;
    const double *numbers = (const void *)(header + 1);
    const int *at = (const void *)(numbers + header->numbers);
    *program = (iso_program_t){.seed = header->seed,
                               .numbers = numbers,
                               .texts = (const void *)(at + header->words),
                               .memory = memory};
    program->placement = (iso_placement_t)*at++;
    program->value_count = *at++;
    program->app_count = *at++;
    program->launch_count = *at++;
    program->values = ISO_NEW(iso_values_t, program->value_count);
    program->apps = ISO_NEW(iso_app_t, program->app_count);
    program->launches = ISO_NEW(iso_launch_t, program->launch_count);
    for (int k = 0; k < program->value_count; k++) {
        load_values(program, &at, &program->values[k]);
    }
    for (int k = 0; k < program->app_count; k++) {
        load_app(program, &at, &program->apps[k]);
        program->ranks += program->apps[k].ranks;
    }
    for (int k = 0; k < program->launch_count; k++) {
        iso_launch_t *launch = &program->launches[k];
        launch->repeat = *at++;
        launch->together = take_list(&at, &launch->count);
    }
}

void iso_program_take_steps(iso_program_t *program, int *words, int count)
{
    program->words = words;
    program->steps = ISO_NEW(iso_step_t, count / ISO_STEP_WORDS);
    for (int at = 0; at < count;) {
        iso_step_t *step = &program->steps[program->step_count++];
        *step = iso_step_read(program, words + at);
        at += ISO_STEP_WORDS + step->count;
    }
}

void iso_program_free(iso_program_t *program)
{
    for (int k = 0; k < program->app_count; k++) {
        free(program->apps[k].phases);
    }
    free(program->values);
    free(program->apps);
    free(program->launches);
    free(program->steps);
    free(program->words);
    free(program->memory);
    memset(program, 0, sizeof(*program));
}

bool iso_launch_has(const iso_launch_t *launch, int app)
{
    for (int k = 0; k < launch->count; k++) {
        if (launch->together[k] == app) {
            return true;
        }
    }
    return false;
}

char *iso_numbers_text(const int *numbers, int count)
{
    char *text = iso_calloc(count + 1, 12), *at = text;
    for (int k = 0; k < count; k++) {
        at += sprintf(at, "%s%d", k ? " " : "", numbers[k]);
    }
    return text;
}
