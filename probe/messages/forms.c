/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "messages/forms.h"

#include "base/check.h"
#include "messages/patterns.h"

#include <dlfcn.h>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(Name) MPIX_##Name##_init
#endif
#elif MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION)
#define INIT(Name) MPI_##Name##_init
#endif

const char *const iso_form_names[] = {"blocking", "nonblocking", "persistent",
                                      "put",      "put_local",   "get",
                                      "get_local"};

static MPI_Request *request_of(const iso_call_t *c)
{
    return &c->requests[c->root];
}

static void ibarrier(const iso_call_t *c)
{
    MPI_Ibarrier(c->comm, request_of(c));
}

static void start(const iso_call_t *c)
{
    MPI_Start(request_of(c));
}

bool iso_form_test(const iso_call_t *c)
{
    int complete;
    if (c->operation->by_messages) {
        MPI_Testall(iso_exchange_messages(c), c->requests, &complete,
                    MPI_STATUSES_IGNORE);
    } else {
        MPI_Test(request_of(c), &complete, MPI_STATUS_IGNORE);
    }
    return complete;
}

void iso_form_wait(const iso_call_t *c)
{
    if (c->operation->by_messages) {
        MPI_Waitall(iso_exchange_messages(c), c->requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Wait(request_of(c), MPI_STATUS_IGNORE);
    }
}

#define BEGIN(name, Name, ...)                                                 \
    static void i##name(const iso_call_t *c)                                   \
    {                                                                          \
        MPI_I##name(__VA_ARGS__, c->comm, request_of(c));                      \
    }
ISO_CALLS(BEGIN)

#ifdef INIT
#define DEFINE_INIT(name, Name, ...)                                           \
    static void name##_init(const iso_call_t *c)                               \
    {                                                                          \
        MPI_CHECK(                                                             \
            INIT(Name)(__VA_ARGS__, c->comm, MPI_INFO_NULL, request_of(c)));   \
    }
ISO_CALLS(DEFINE_INIT)

static void barrier_init(const iso_call_t *c)
{
    MPI_CHECK(INIT(Barrier)(c->comm, MPI_INFO_NULL, request_of(c)));
}
#define INIT_OF(name)   name##_init
#define TEXT_OF(symbol) #symbol
#define TEXT(symbol)    TEXT_OF(symbol)

/** Whether the library at run time is as new as the one of the build. A probe
 *  that is linked statically has what it was built with. */
static bool has_persistent(void)
{
    return dlsym(RTLD_DEFAULT, TEXT(INIT(Barrier))) ||
           !dlsym(RTLD_DEFAULT, "MPI_Init");
}
#else
#define INIT_OF(name)    NULL
#define has_persistent() false
#endif

/** What each operation begins and makes its persistent request with. */
static const struct forms {
    const char *name;
    void (*begin)(const iso_call_t *call);
    void (*init)(const iso_call_t *call);
} table[] = {
    {"barrier", ibarrier, INIT_OF(barrier)},
#define ENTRY(name, ...) {#name, i##name, INIT_OF(name)},
    ISO_CALLS(ENTRY){"exchange", iso_exchange_begin, iso_exchange_init},
    {NULL, NULL, NULL},
};

static const struct forms *forms_of(const iso_operation_t *operation)
{
    const struct forms *row = table;
    while (row->name && strcmp(row->name, operation->name) != 0) {
        row++;
    }
    return row;
}

void iso_form_word(const iso_operation_t *operation, iso_form_t form,
                   char word[ISO_FORM_WORD])
{
    bool suffixed = form >= ISO_PERSISTENT;
    snprintf(word, ISO_FORM_WORD, "%s%s%s%s",
             form == ISO_NONBLOCKING ? "i" : "", operation->name,
             suffixed ? "_" : "", suffixed ? iso_form_names[form] : "");
}

void (*iso_form_begin(const iso_operation_t *operation,
                      iso_form_t form))(const iso_call_t *call)
{
    static void (*const accesses[])(const iso_call_t *) = {
        iso_put_all, iso_put_all_local, iso_get_all, iso_get_all_local};
    const struct forms *row = forms_of(operation);
    if (form >= ISO_PUT) {
        bool there = iso_pattern_accesses(operation, form < ISO_GET);
        return there ? accesses[form - ISO_PUT] : NULL;
    }
    if (form == ISO_PERSISTENT) {
        return operation->by_messages          ? iso_exchange_start
               : row->init && has_persistent() ? start
                                               : NULL;
    }
    return row->begin;
}

void iso_form_init(const iso_operation_t *operation, const iso_call_t *call)
{
    forms_of(operation)->init(call);
}

void iso_form_complete(const iso_call_t *call)
{
    call->begin(call);
    iso_form_wait(call);
}
