/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/staging.h"

#include "base/check.h"

/** The subject at hand, and bytes of its buffers that are in use. */
static struct {
    const iso_operation_t *operation;
    iso_operate_t *call;
    iso_buffer_t send, receive;
    size_t sent, received;
} staged;

/** Only the root sends different blocks to all. */
static bool root_sends(const iso_operation_t *operation)
{
    return operation->rooted && operation->sends_all;
}

static void call_staged(const iso_call_t *given)
{
    const iso_operation_t *operation = staged.operation;
    iso_call_t call = *given;
    int rank;
    MPI_CHECK(MPI_Comm_rank(call.comm, &rank));
    bool root = rank == call.root;
    bool all_in_place = call.send == MPI_IN_PLACE;
    if ((operation->in_one_buffer && root) || all_in_place ||
        call.in_place == call.root) {
        iso_buffer_read(&staged.receive, 0, staged.received);
    }
    if (!operation->in_one_buffer && !all_in_place &&
        (root || !root_sends(operation))) {
        iso_buffer_read(&staged.send, 0, staged.sent);
    }
    call.send = all_in_place ? MPI_IN_PLACE : staged.send.image;
    call.receive = staged.receive.image;
    staged.call(&call);
    if (operation->in_one_buffer ? !root : root || !operation->root_receives) {
        iso_buffer_write(&staged.receive, 0, staged.received);
    }
}

iso_operate_t *iso_staging_of(const iso_subject_t *subject,
                              const iso_buffer_t *send, size_t sent,
                              const iso_buffer_t *receive, size_t received)
{
    if (!iso_memory_staged() || subject->operation->empty) {
        return subject->call;
    }
    staged.operation = subject->operation;
    staged.call = subject->call;
    staged.send = *send;
    staged.receive = *receive;
    staged.sent = sent;
    staged.received = received;
    return call_staged;
}
