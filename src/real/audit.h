/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The audit of a run, by the journal and the counter at the end. It finds breaches of mutual exclusion, and
 * lost updates.
 *
 * An overlap is a pair of sections of two workers: one was entered between the enter of the other, and the
 * leave or death of that worker. A worker writes enter after the grant, and leave before the release. So
 * each overlap is a breach for certain. Two holders that were not inside at the same time are not seen.
 *
 * An update is lost if it was acknowledged, and the counter was not built on it. Each write names its
 * basis: the write on which it was built. So the last write leads back over a chain to the first. Every
 * acknowledged write must be on this chain. If a worker was killed before its write was acknowledged, the
 * write may be on the chain or not; both are right. */
#ifndef REAL_AUDIT_H
#define REAL_AUDIT_H

#include "real/journal.h"
#include "real/resource.h"

struct real_audit {
    struct {
        bool inside;
        int64_t token;          /* fencing token of its last section */
        uint32_t wrote;         /* number of acknowledged writes */
    } worker[REAL_WORKERS_MAX]; /* by slot */
    /* All writes that were begun: in order of the journal, after real_audit_settle() in order of ids. */
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
    /* In ms: a section that ends this long after its last check, or longer, is late, and breaks the run's
     * premise. 0 = no bound. */
    int64_t late_ms;
    uint32_t sections;
    uint32_t overlaps;
    uint32_t wrote;   /* acknowledged writes */
    uint32_t refused; /* lines REAL_REFUSED */
    uint32_t doubted; /* lines REAL_DOUBTED */
    uint32_t late;    /* late sections */
    uint32_t lost;    /* acknowledged writes that are not on the chain */
    uint32_t unheard; /* writes on the chain that were never acknowledged */
    bool settled;     /* lost and unheard are known */
    bool sound;       /* the chain of the counter goes back to the first write, and its length is the value */
};

void real_audit_init(struct real_audit *audit);
void real_audit_close(struct real_audit *audit);

/* Takes one line. Returns 0; or -1 if memory is short, or if the line is not possible (errno EBADMSG). */
int real_audit_take(struct real_audit *audit, const struct real_line *line);

/* Ends the audit with the counter, once the last worker has ended. */
void real_audit_settle(struct real_audit *audit, const struct real_record *counter);

#endif
