/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/verbs.h"

#include "base/assert.h"
#include "coord/coordinator.h"
#include "sim/lock_kinds.h"

/* A name of NULL means the word in the action's labels (coord/action_kinds.c). */
#define CLIENT(name, flags, action, usage, help)                                                             \
    {                                                                                                        \
        name, VERB_CLIENT | (flags), ARGUMENT_LOCK, STEP_ACTION, action, usage, help                         \
    }
#define FAULT(argument, flags, action, usage, help)                                                          \
    {                                                                                                        \
        NULL, VERB_FAULT | (flags), argument, STEP_ACTION, action, usage, help                               \
    }
#define RUNNING(name, argument, step, usage, help)                                                           \
    {                                                                                                        \
        name, 0, argument, step, 0, usage, help                                                              \
    }

static const struct verb VERBS[] = {
    CLIENT(
        NULL, VERB_OWNER | VERB_TIMEOUT | VERB_NOWAIT | VERB_REACTS, ACTION_ACQUIRE,
        "a acquire [LOCK [and LOCK]...] [owner=N] [timeout=2s] [nowait] [on granted: VERB] [on failed: VERB]",
        "asks for the lock; without timeout it waits for ever; in a program with nowait the next step "
        "does not wait "
        "for the answer"),
    CLIENT("try", VERB_OWNER | VERB_NOWAIT, ACTION_ACQUIRE, "a try [LOCK [and LOCK]...] [owner=N] [nowait]",
           "asks for the lock only if it is free now"),
    CLIENT("lead", VERB_FOREVER | VERB_NOWAIT | VERB_REACTS, ACTION_ACQUIRE, "a lead [LOCK] [nowait]",
           "stands for election; after a loss it stands again, without another lead"),
    CLIENT("resign", VERB_REACTS, ACTION_RELEASE, "a resign [LOCK]",
           "leads no more; a candidate that has not been elected gives up by cancel"),
    CLIENT(NULL, VERB_OWNER | VERB_ANYWAY | VERB_REACTS, ACTION_RELEASE,
           "a release [LOCK [and LOCK]...] [owner=N] [anyway]",
           "gives one level of the lock back; in a program with anyway also if it does not hold it"),
    CLIENT("downgrade", VERB_OWNER | VERB_BOTH, ACTION_ACQUIRE, "a downgrade LOCK [owner=N]",
           "acquires the read lock of a read-write lock, and then releases its write lock"),
    CLIENT(NULL, VERB_OWNER | VERB_REACTS, ACTION_CANCEL, "a cancel [LOCK] [owner=N]",
           "gives a pending acquire up; not in a program, where it is a fault: explore cancel<=N"),
    CLIENT(NULL, VERB_OWNER | VERB_GUARDED | VERB_NOWAIT, ACTION_WRITE,
           "a write [LOCK] [owner=N] [guarded [nowait]]",
           "writes to a resource that compares fencing tokens; guarded: to the ensemble, in a multi that "
           "fails once the "
           "hold is over"),
    CLIENT(NULL, 0, ACTION_REVOCABLE, "a revocable [LOCK]",
           "listens from now on to requests to give the lock back"),
    CLIENT(NULL, VERB_PLACE, ACTION_REVOKE, "a revoke [LOCK] [place=N]",
           "asks the first in line, or the N-th, to give the lock back"),
    CLIENT(NULL, VERB_CAPACITY, ACTION_RESIZE, "a resize [LOCK] capacity=N",
           "knows another capacity of a semaphore from now on; leases that are held stay held"),
    CLIENT(NULL, VERB_REACTS, ACTION_CLOSE, "a close [LOCK]",
           "ends the use of the lock: a pending acquire fails, what is held is given back"),
    CLIENT(NULL, 0, ACTION_OPEN, "a open [LOCK]", "begins the use of a closed lock again"),
    {NULL, VERB_CLIENT, ARGUMENT_NONE, STEP_ACTION, ACTION_STOP, "a stop",
     "closes the session in an orderly way"},
    {NULL, VERB_CLIENT, ARGUMENT_NONE, STEP_ACTION, ACTION_START, "a start",
     "starts the process, or starts it again"},

    FAULT(ARGUMENT_PROCESS, VERB_CUT, ACTION_CUT, "cut a [keep=K] [apply=J] [rc=-4|-7] [late] [link=N]",
          "breaks the link; the first K replies under way still arrive, the first J requests are still read "
          "by the server; "
          "with late the last of those commits only after the reconnect; of several links that are up the "
          "N-th"),
    FAULT(ARGUMENT_PROCESS, VERB_LINK, ACTION_REFUSE, "refuse a [link=N]",
          "the next connection attempt fails"),
    FAULT(ARGUMENT_PROCESS, 0, ACTION_PARTITION, "partition a", "nothing passes between a and the servers"),
    FAULT(ARGUMENT_PROCESS, 0, ACTION_HEAL, "heal a",
          "ends a partition; `heal all` ends all faults in force"),
    FAULT(ARGUMENT_PROCESS, 0, ACTION_EXPIRE, "expire a", "the servers give the session of a up"),
    FAULT(ARGUMENT_PROCESS, 0, ACTION_PAUSE, "pause a", "the process stops, its socket fills"),
    FAULT(ARGUMENT_PROCESS, 0, ACTION_RESUME, "resume a", "it goes on"),
    FAULT(ARGUMENT_PROCESS, 0, ACTION_CRASH, "crash a", "the process is gone without a word"),
    FAULT(ARGUMENT_PROCESS, 0, ACTION_RESTART, "restart a", "it starts again with empty memory"),
    FAULT(ARGUMENT_PROCESS, VERB_COUNT, ACTION_FAIL_ALLOC, "fail-alloc a [n=N]",
          "the N-th allocation from now on fails"),
    FAULT(ARGUMENT_PROCESS, VERB_COUNT, ACTION_FAIL_CALL, "fail-call a [n=N]",
          "the client library finds no memory for the N-th call from now on, and refuses it"),
    FAULT(ARGUMENT_SERVER, 0, ACTION_FREEZE, "freeze s2", "the follower hears nothing from the leader"),
    FAULT(ARGUMENT_SERVER, 0, ACTION_THAW, "thaw s2", "ends a freeze or a lag"),
    FAULT(ARGUMENT_SERVER, 0, ACTION_LAG, "lag s2",
          "the follower applies only what `do catch-up s2 ...` lets it"),
    FAULT(ARGUMENT_SERVER, 0, ACTION_RESTART_SERVER, "restart-server s1",
          "every link of it breaks, all session timers restart"),
    FAULT(ARGUMENT_SWEPT, 0, ACTION_SWEEP, "sweep LOCK", "the servers delete the lock's empty container"),
    FAULT(ARGUMENT_SWEPT, 0, ACTION_RMDIR, "rmdir LOCK",
          "the operator deletes the lock's directory, or the nearest one above it that is left, if it is "
          "empty"),
    FAULT(ARGUMENT_PATH, VERB_PERMS, ACTION_FOREIGN, "create /locks/x/content [perms=N]",
          "the operator creates a persistent node; with perms (1 read, 2 write, 4 create, 8 delete, 16 "
          "admin) for all others"),
    FAULT(ARGUMENT_PATH, 0, ACTION_REMOVE, "remove /locks/x", "the operator deletes a node and all below it"),
    FAULT(ARGUMENT_PROCESS, VERB_LOCK, ACTION_EVICT, "evict a [LOCK]",
          "the operator deletes the contender node of a, the oldest if it has several"),
    FAULT(ARGUMENT_PROCESS, VERB_LOCK, ACTION_TOUCH, "touch a [LOCK]",
          "the operator sets the data of the contender node of a, the oldest if it has several"),
    FAULT(ARGUMENT_PROCESS, VERB_LOCK, ACTION_RESTRICT, "restrict a [LOCK]",
          "the operator lets nobody else read the contender node of a, the oldest if it has several"),

    RUNNING("settle", ARGUMENT_NONE, STEP_SETTLE, "settle", "the system works until nothing is under way"),
    RUNNING("advance", ARGUMENT_DURATION, STEP_ADVANCE, "advance 5s", "time passes, and with it what is due"),
    RUNNING("before", ARGUMENT_LABEL, STEP_BEFORE, "before LABEL",
            "the system works until the action LABEL is possible, and stops there"),
    RUNNING("after", ARGUMENT_LABEL, STEP_AFTER, "after LABEL", "the same, and the action happens"),
    RUNNING("do", ARGUMENT_LABEL, STEP_DO, "do LABEL", "the action LABEL happens now, before all others"),
    RUNNING("rest", ARGUMENT_NONE, STEP_REST, "rest",
            "nothing may be under way; what holds at rest is judged"),
};

/* Kinds of lock follow the first two header lines. */
#define KINDS_OF_LOCK_AT 2

static const struct header_word HEADERS[] = {
    {"coordinator", "coordinator NAME", "the service that grants the locks; without this line zookeeper"},
    {"world", "world [OPTION...]", "servers, times, run constants"},
    {"chroot", "chroot /app", "all paths lie below it"},
    {"node", "node PATH [perms=N]", "a persistent node that stands before the run begins"},
    {"contents", "contents \"TEXT\"", "contents of the contender nodes"},
    {"process", "process NAME... [asleep | owner=N][: OPERATION...]",
     "processes, and in an exploring scenario their program, or the program of one owner"},
    {"explore", "explore FAULT<=N... [total<=N] [constants=N]",
     "fault budgets and run constants of an exploring scenario"},
    {"show", "show GROUP...", "more events in the expected trace"},
    {"properties", "properties NAME...", "judge these instead of the default set"},
};

static struct verb verb_of_kind(const struct coord_kind *kind)
{
    LS_ASSERT(kind->kind >= ACTION_OWN && kind->kind < ACTION_KINDS);
    const struct action action = {.kind = kind->kind};
    enum verb_argument argument = action_has(&action, TRAIT_ON_PROCESS)  ? ARGUMENT_PROCESS
                                  : action_has(&action, TRAIT_SERVER)    ? ARGUMENT_SERVER
                                  : action_has(&action, TRAIT_DIRECTORY) ? ARGUMENT_SWEPT
                                                                         : ARGUMENT_NONE;
    return (struct verb)FAULT((uint8_t)argument, kind->at_server ? VERB_SERVER : 0, kind->kind, kind->usage,
                              kind->help);
}

const struct verb *verb_own(int index)
{
    static struct verb own[ACTION_KINDS - ACTION_OWN];
    static int count;
    static bool known;
    const struct coordinator *coordinator;
    for (int i = 0; !known && (coordinator = coordinator_at(i)) != NULL; i++) {
        for (const struct coord_kind *kind = coordinator->kinds; kind != NULL && kind->kind != 0; kind++) {
            if ((kind->info.traits & TRAIT_STEP) == 0) {
                LS_ASSERT(count < ACTION_KINDS - ACTION_OWN);
                own[count++] = verb_of_kind(kind);
            }
        }
    }
    known = true;
    return index < count ? &own[index] : NULL;
}

const struct verb *verb_all(int *count)
{
    *count = (int)(sizeof VERBS / sizeof VERBS[0]);
    return VERBS;
}

bool header_at(int index, struct header_word *out)
{
    LS_ASSERT(index >= 0);
    const int before = KINDS_OF_LOCK_AT;
    const struct lock_kind *kind = index >= before ? lock_kind_at((unsigned)(index - before)) : NULL;
    if (kind != NULL) {
        *out = (struct header_word){kind->word, kind->usage, kind->help};
        return true;
    }
    index -= index >= before ? LS_LOCK_KINDS : 0;
    if (index >= (int)(sizeof HEADERS / sizeof HEADERS[0])) {
        return false;
    }
    *out = HEADERS[index];
    return true;
}

const char *verb_name(const struct verb *verb)
{
    return verb->name ? verb->name : world_action_verb(verb->action);
}

const struct verb *verb_find(const struct input_word *word, bool client)
{
    for (size_t i = 0; i < sizeof VERBS / sizeof VERBS[0]; i++) {
        if (input_word_is(word, verb_name(&VERBS[i])) && ((VERBS[i].flags & VERB_CLIENT) != 0) == client) {
            return &VERBS[i];
        }
    }
    const struct verb *own;
    for (int i = 0; !client && (own = verb_own(i)) != NULL; i++) {
        if (input_word_is(word, verb_name(own))) {
            return own;
        }
    }
    return NULL;
}

const char *verb_of_step(const struct action *op)
{
    return op->kind == ACTION_ACQUIRE && op->timeout_ms == 0 ? "try" : world_action_verb(op->kind);
}

bool verb_is_reserved(const struct input_word *word)
{
    static const char *const OTHERS[] = {"all",     "and",   "anyway", "as", "asleep",  "forever",
                                         "guarded", "holds", "nowait", "on", "violates"};
    if (verb_find(word, true) || verb_find(word, false)) {
        return true;
    }
    struct header_word header;
    for (int i = 0; header_at(i, &header); i++) {
        if (input_word_is(word, header.name)) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        if (input_word_is(word, OTHERS[i])) {
            return true;
        }
    }
    return false;
}
