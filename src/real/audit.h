/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The audit of a run. Its evidence is the journal, and the counter at the end. It finds breaches of mutual
 * exclusion, and lost updates.
 *
 * An overlap is a section that was entered between another worker's enter and its leave, or its death.
 * Enter comes after the grant and leave before the release, so each overlap is a breach for certain. Two
 * holders that did nothing at the same time are not seen.
 *
 * An update is lost if it was acknowledged, and the counter was not built on it. The last write names the
 * write that it was built on, that one names the write before it, and so on to the beginning. Every
 * acknowledged write must be on this chain. If a worker was killed before its write was acknowledged, the
 * write may be on the chain or not. Both are right, and it is counted if it is. */
#ifndef REAL_AUDIT_H
#define REAL_AUDIT_H

#include "real/journal.h"
#include "real/resource.h"

enum { REAL_WORKERS_MAX = 64 };

struct real_audit {
    /* The present state of each worker, by slot. */
    struct {
        bool inside;
        int64_t token;  /* fencing token of its last section */
        uint32_t wrote; /* number of acknowledged writes */
    } worker[REAL_WORKERS_MAX];
    /* All writes that were begun, in order of the journal; after real_audit_settle() in order of their
     * ids. */
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
    /* ms; a section that ends so long after its last check breaks the run's premise; 0 = no bound */
    int64_t late_ms;
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

/* Takes one line. Returns 0, or -1 if memory is short, or if the line is not possible (errno EBADMSG). */
int real_audit_take(struct real_audit *audit, const struct real_line *line);

/* Ends the audit with the counter, once the last worker has ended. */
void real_audit_settle(struct real_audit *audit, const struct real_record *counter);

#endif
