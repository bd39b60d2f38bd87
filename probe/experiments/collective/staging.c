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
    return operation->sends_all && !operation->receives_all &&
           !operation->reduces;
}

static void call_staged(const iso_call_t *given)
{
    const iso_operation_t *operation = staged.operation;
    iso_call_t call = *given;
    int rank;
    MPI_CHECK(MPI_Comm_rank(call.comm, &rank));
    bool root = rank == call.root;
    if (operation->in_one_buffer && root) {
        iso_buffer_read(&staged.receive, 0, staged.received);
    } else if (!operation->in_one_buffer && (root || !root_sends(operation))) {
        iso_buffer_read(&staged.send, 0, staged.sent);
    }
    call.send = staged.send.image;
    call.receive = staged.receive.image;
    staged.call(&call);
    if (operation->in_one_buffer ? !root : root || !operation->root_receives) {
        iso_buffer_write(&staged.receive, 0, staged.received);
    }
}

iso_operate_t *iso_staging_of(const iso_subject_t *subject, long long block,
                              const iso_buffer_t *send,
                              const iso_buffer_t *receive)
{
    const iso_operation_t *operation = subject->operation;
    size_t ranks = (size_t)subject->ranks, bytes = (size_t)block;
    if (!iso_memory_staged() || operation->empty) {
        return subject->call;
    }
    staged.operation = operation;
    staged.call = subject->call;
    staged.send = *send;
    staged.receive = *receive;
    staged.sent = bytes * (operation->sends_all ? ranks : 1);
    staged.received = bytes * (operation->receives_all ? ranks : 1);
    return call_staged;
}
