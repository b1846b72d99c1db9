/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The audit: what a run's journal and the counter at its end say about mutual exclusion and about lost
 * updates.
 *
 * An overlap is a section that was entered between another's enter and its leave, or its death. The lines
 * stand inside the grant (enter comes after it, leave before the release), so an overlap is one for certain;
 * two holders that did nothing at the same time are not seen.
 *
 * An update is lost if it was acknowledged and yet the counter was not built on it: the last write names the
 * write that it was built on, that one the write before it, and so on to the beginning, and every
 * acknowledged write must be on this chain. A write whose worker was killed before it was acknowledged may be
 * on it or not; both are right, and it is counted if it is. */
#ifndef REAL_AUDIT_H
#define REAL_AUDIT_H

#include "real/journal.h"
#include "real/resource.h"

enum { REAL_WORKERS_MAX = 64 };

struct real_audit {
    /* What was seen of each worker. */
    struct {
        bool inside;
        int64_t token;  /* of its last section */
        uint32_t wrote; /* acknowledged writes */
    } worker[REAL_WORKERS_MAX];
    /* All writes that were begun, in order of the journal. */
    struct real_write {
        uint64_t id;
        uint64_t basis;
        int64_t value;
        bool wrote;
        bool on_chain;
    } * writes;
    uint32_t write_count;
    uint32_t write_capacity;
    int64_t token_max; /* largest fencing token that was inside */
    int64_t
        late_ms; /* a section that ends so long after its last check broke the run's premise; 0 = no bound */
    uint32_t sections;
    uint32_t overlaps;
    uint32_t wrote; /* acknowledged writes */
    uint32_t refused;
    uint32_t doubted;
    uint32_t late;
    uint32_t lost;    /* acknowledged writes that are not on the chain */
    uint32_t unheard; /* writes on the chain that were never acknowledged */
    bool settled;     /* lost and unheard are known */
    bool sound; /* the counter's value is the length of the chain, and the chain goes back to the beginning */
};

void real_audit_init(struct real_audit *audit);
void real_audit_close(struct real_audit *audit);

/* Takes one line. 0, or -1: out of memory, or a line that cannot be (errno EBADMSG). */
int real_audit_take(struct real_audit *audit, const struct real_line *line);

/* Ends the audit with the counter as it is after the last worker has ended. */
void real_audit_settle(struct real_audit *audit, const struct real_record *counter);

#endif
