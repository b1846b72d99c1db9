/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A storm is a run on a real server. It starts workers, starts killed ones again, and audits the result.
 * With a lock, it also kills and stops workers at random. */
#ifndef REAL_STORM_H
#define REAL_STORM_H

#include "real/audit.h"
#include "real/worker.h"

#include <signal.h>

struct real_plan {
    const char *hosts;
    const char *path; /* of the mutex */
    const char *dir;  /* an existing folder for the counter and the journal of this run alone */
    int processes;    /* 1 .. REAL_WORKERS_MAX */
    int rounds;       /* number of rounds of each worker */
    int session_timeout_ms;
    uint64_t seed; /* of the random hits; their times depend on the machine too */
    enum real_mode mode;
};

enum real_outcome {
    REAL_RUN_ENDED,       /* all rounds are done */
    REAL_RUN_INTERRUPTED, /* `*stop` ended the run; the rounds until then are audited */
    REAL_RUN_FAILED,      /* `why` tells the reason; if workers were started, the rounds are audited */
    REAL_RUN_NO_SERVER,   /* `why` tells when; figures may be incomplete */
};

struct real_result {
    struct real_audit audit; /* the caller closes it */
    struct real_record counter;
    int session_timeout_ms; /* negotiated */
    uint32_t kills;
    uint32_t stops; /* halts included */
    uint32_t halts; /* stops of workers at REAL_HALT_BEFORE_WRITE */
    int64_t elapsed_ms;
    const char *why; /* static text, or NULL */
};

/* Called some times a second while the run goes on. */
typedef void (*real_progress_fn)(void *ctx, const struct real_result *result);

/* Does a run in the calling process, which must have no other threads. On return all its workers have ended.
 * `*stop` other than 0, set by a signal handler, ends the run early. */
enum real_outcome real_storm_run(const struct real_plan *plan, struct real_result *result,
                                 const volatile sig_atomic_t *stop, real_progress_fn progress, void *ctx);

#endif
