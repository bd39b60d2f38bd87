/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/program.h"

#include "base/check.h"
#include "experiments/app/reading.h"

#include <math.h>
#include <string.h>

static int read_steps(iso_reading_t *r)
{
    if (iso_read_app_index(r, &r->app)) {
        r->app = -1;
        return -1;
    }
    iso_app_t *app = &r->program->apps[r->app];
    if (iso_words_int(&r->words, "the rank", 0, app->ranks - 1, &r->rank)) {
        return -1;
    }
    iso_section_t *section = &app->sections[r->rank];
    if (section->begin) {
        return iso_words_fail(&r->words, "the second steps of rank %d",
                              r->rank);
    }
    section->begin = section->end = r->words.end;
    r->needs = (iso_needs_t){0};
    return 0;
}

static void keep_step(iso_reading_t *r, const iso_step_t *step)
{
    iso_program_t *p = r->program;
    if (p->step_count == r->room) {
        r->room = r->room ? 2 * r->room : 16;
        p->steps = realloc(p->steps, (size_t)r->room * sizeof(*step));
        if (p->steps == NULL) {
            ISO_FAIL("no memory for %ld steps", r->room);
        }
    }
    p->steps[p->step_count++] = *step;
}

static int read_step(iso_reading_t *r)
{
    iso_step_t step = {0};
    if (r->app < 0) {
        return iso_words_fail(&r->words, "a step of nobody: no 'steps' before");
    }
    iso_app_t *app = &r->program->apps[r->app];
    if (iso_step_parse(&r->words, r->program, app, r->rank, &step)) {
        free(step.list);
        return -1;
    }
    app->sections[r->rank].end = r->words.end;
    iso_needs_add(&r->needs, r->program, app, &step);
    double bytes = r->needs.send + r->needs.receive + r->needs.pending;
    r->program->most_bytes = fmax(r->program->most_bytes, bytes);
    if (r->tally) {
        iso_tally_add(r->tally, r->program, r->app, r->rank, &step,
                      r->words.line);
    }
    if (r->app == r->text->app && r->rank == r->text->rank) {
        keep_step(r, &step);
    } else {
        free(step.list);
    }
    return 0;
}

static const struct {
    const char *keyword;
    int (*read)(iso_reading_t *);
} lines[] = {
    {"seed", iso_read_seed},     {"placement", iso_read_placement},
    {"values", iso_read_values}, {"app", iso_read_app},
    {"on", iso_read_on},         {"phase", iso_read_phase},
    {"steps", read_steps},       {"run", iso_read_run},
};

static int read_title(iso_reading_t *r)
{
    const char *word;
    size_t length = iso_words_take(&r->words, &word);
    if (!iso_words_same(word, length, "isochrone-program")) {
        return iso_words_fail(&r->words, "this is no 'isochrone-program 1'");
    }
    length = iso_words_take(&r->words, &word);
    r->titled = true;
    return iso_words_same(word, length, "1")
               ? iso_words_close(&r->words)
               : iso_words_fail(&r->words, "this version reads version 1");
}

static int read_line(iso_reading_t *r)
{
    const char *word, *begin;
    if (iso_words_over(&r->words)) {
        return 0;
    }
    if (!r->titled) {
        return read_title(r);
    }
    begin = r->words.at;
    size_t length = iso_words_take(&r->words, &word);
    if (r->ended) {
        return iso_words_fail(&r->words, "a line after 'end'");
    }
    if (iso_words_same(word, length, "end")) {
        r->ended = true;
        return iso_words_close(&r->words);
    }
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++) {
        if (iso_words_same(word, length, lines[k].keyword)) {
            r->app = -1;
            return lines[k].read(r) ? -1 : iso_words_close(&r->words);
        }
    }
    r->words.at = begin;
    return read_step(r);
}

static bool is_text(const char *at, const char *end)
{
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if (c < 0x20 || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/** What must be there when all lines were read. */
static int check_whole(iso_reading_t *r)
{
    const iso_program_t *p = r->program;
    if (!r->titled) {
        return iso_words_fail(&r->words, "it is empty");
    }
    if (!r->ended) {
        return iso_words_fail(&r->words, "it has no 'end': it is not whole");
    }
    if (p->launch_count == 0) {
        return iso_words_fail(&r->words, "there is no 'run'");
    }
    return r->tally
               ? iso_tally_check(r->tally, p, r->text->file, r->words.error)
               : 0;
}

int iso_program_parse(iso_program_t *program, const iso_program_text_t *text,
                      iso_tally_t *tally, char *error)
{
    const char *at = text->text, *end = text->text + text->length;
    iso_reading_t r = {
        .program = program, .text = text, .tally = tally, .app = -1};
    memset(program, 0, sizeof(*program));
    r.words.file = text->file;
    r.words.error = error;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        r.words.line++;
        r.words.at = at;
        r.words.end = stop;
        if (!is_text(at, stop)) {
            return iso_words_fail(&r.words, "a character that is not text");
        }
        if (read_line(&r)) {
            return -1;
        }
        at = stop + 1;
    }
    return check_whole(&r);
}

void iso_program_free(iso_program_t *program)
{
    for (int k = 0; k < program->value_count; k++) {
        free(program->values[k].items);
    }
    for (int k = 0; k < program->app_count; k++) {
        iso_app_t *app = &program->apps[k];
        for (int j = 0; j < app->phase_count; j++) {
            free(app->phases[j].name);
            free(app->phases[j].path);
        }
        free(app->phases);
        free(app->sections);
        free(app->on);
        free(app->name);
    }
    for (int k = 0; k < program->launch_count; k++) {
        free(program->launches[k].together);
    }
    for (long k = 0; k < program->step_count; k++) {
        free(program->steps[k].list);
    }
    free(program->values);
    free(program->apps);
    free(program->launches);
    free(program->steps);
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
