/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include <lockstep/sim.h>

/* STEP: a step of the coordinator. WORK: a step that a fair system does at last. While it is enabled, a
 * search takes no state for one at rest. */
#define STEP (TRAIT_SYSTEM | TRAIT_STEP)
#define WORK (STEP | TRAIT_MOVES | TRAIT_FAIR)
#define VERB (TRAIT_VERB | TRAIT_MOVES)
#define LOCK_VERB (VERB | TRAIT_LOCK)
/* A verb that the budget of a fault pays for. The world may be at rest while it is enabled. */
#define LOCK_VERB_OF_A_FAULT (TRAIT_VERB | TRAIT_LOCK | TRAIT_BREAKS)
#define FAULT_ON_PROCESS (TRAIT_ON_PROCESS | TRAIT_BREAKS)
#define FAULT_ON_SERVER (TRAIT_ON_SERVICE | TRAIT_SERVER | TRAIT_BREAKS)
#define FAULT_ON_DIRECTORY (TRAIT_ON_SERVICE | TRAIT_DIRECTORY | TRAIT_BREAKS)
#define FAULT_OF_MEMORY (FAULT_ON_PROCESS | TRAIT_MEMORY)
#define FAULT_ON_CONTENDER (FAULT_ON_PROCESS | TRAIT_CONTENDER)
#define HEALS (TRAIT_HEALS | TRAIT_FAIR)

struct action_info world_action_infos[ACTION_KINDS] = {
    [ACTION_APPLY] = {.verb = "apply", .traits = WORK},
    [ACTION_COMMIT] = {.verb = "commit-late", .traits = WORK | TRAIT_LINK},
    [ACTION_CATCH_UP] = {.verb = "catch-up", .traits = WORK | TRAIT_SERVER},
    [ACTION_DELIVER] = {.verb = "deliver", .traits = WORK | TRAIT_DELIVERS},
    [ACTION_CONNECT] = {.verb = "connect", .traits = WORK | TRAIT_LINK},
    [ACTION_BURY] = {.verb = "bury", .traits = WORK | TRAIT_LINK},
    [ACTION_HANG_UP] = {.verb = "hang-up", .traits = WORK | TRAIT_LINK},
    [ACTION_GIVE_UP] = {.verb = "give-up", .traits = WORK | TRAIT_LINK},
    [ACTION_RECEIVE] = {.verb = "receive", .traits = WORK},
    [ACTION_HANDSHAKE] = {.verb = "handshake", .traits = WORK},
    [ACTION_REARM] = {.verb = "rearm", .traits = WORK},
    [ACTION_LINGER] = {.verb = "linger", .traits = STEP},
    [ACTION_FIRE] = {.verb = "fire", .traits = TRAIT_SYSTEM | TRAIT_FAIR},
    [ACTION_ADVANCE] = {.verb = "advance", .traits = TRAIT_SYSTEM | TRAIT_FAIR},

    /* Acquire, cancel, start and open are not TRAIT_FAIR: a fair system forces no owner to do them. */
    [ACTION_ACQUIRE] = {.verb = "acquire", .traits = LOCK_VERB, .stimulus = "acquire"},
    [ACTION_RELEASE] = {.verb = "release", .traits = LOCK_VERB | TRAIT_FAIR, .stimulus = "release"},
    [ACTION_CANCEL] = {.verb = "cancel",
                       .traits = LOCK_VERB_OF_A_FAULT,
                       .fault = WORLD_FAULT_CANCEL + 1,
                       .stimulus = "cancel"},
    [ACTION_WRITE] = {.verb = "write", .traits = LOCK_VERB | TRAIT_FAIR},
    [ACTION_REVOCABLE] = {.verb = "revocable", .traits = LOCK_VERB | TRAIT_FAIR, .stimulus = "revocable"},
    [ACTION_REVOKE] = {.verb = "revoke", .traits = LOCK_VERB | TRAIT_FAIR, .stimulus = "revoke"},
    [ACTION_STOP] = {.verb = "stop", .traits = VERB | TRAIT_FAIR, .stimulus = "stop"},
    [ACTION_START] = {.verb = "start", .traits = VERB, .stimulus = "start"},

    [ACTION_CUT] = {.verb = "cut",
                    .traits = FAULT_ON_PROCESS | TRAIT_LINK,
                    .fault = WORLD_FAULT_LOSS + 1}, /* WORLD_FAULT_LATE if the cut is late */
    [ACTION_REFUSE] = {.verb = "refuse",
                       .traits = FAULT_ON_PROCESS | TRAIT_LINK,
                       .fault = WORLD_FAULT_REFUSE + 1},
    [ACTION_PARTITION] = {.verb = "partition", .traits = FAULT_ON_PROCESS},
    [ACTION_HEAL] = {.verb = "heal", .traits = TRAIT_ON_PROCESS | HEALS},
    [ACTION_EXPIRE] = {.verb = "expire",
                       .traits = FAULT_ON_PROCESS | TRAIT_LINK,
                       .fault = WORLD_FAULT_EXPIRE + 1},
    [ACTION_PAUSE] = {.verb = "pause", .traits = FAULT_ON_PROCESS, .fault = WORLD_FAULT_PAUSE + 1},
    [ACTION_RESUME] = {.verb = "resume", .traits = TRAIT_ON_PROCESS | HEALS},
    [ACTION_CRASH] = {.verb = "crash", .traits = FAULT_ON_PROCESS, .fault = WORLD_FAULT_CRASH + 1},
    [ACTION_RESTART] = {.verb = "restart", .traits = TRAIT_ON_PROCESS | TRAIT_HEALS, .stimulus = "start"},
    [ACTION_FAIL_ALLOC] = {.verb = "fail-alloc",
                           .traits = FAULT_OF_MEMORY,
                           .fault = WORLD_FAULT_ALLOC + 1,
                           .fault_class = EVENT_FAULT_MEMORY},

    [ACTION_FREEZE] = {.verb = "freeze", .traits = FAULT_ON_SERVER, .fault = WORLD_FAULT_LAG + 1},
    [ACTION_THAW] = {.verb = "thaw", .traits = TRAIT_ON_SERVICE | TRAIT_SERVER | HEALS},
    [ACTION_LAG] = {.verb = "lag", .traits = FAULT_ON_SERVER, .fault = WORLD_FAULT_LAG + 1},
    [ACTION_RESTART_SERVER] = {.verb = "restart-server",
                               .traits = FAULT_ON_SERVER,
                               .fault = WORLD_FAULT_SERVER + 1},
    [ACTION_SWEEP] = {.verb = "sweep",
                      .traits = FAULT_ON_DIRECTORY,
                      .fault = WORLD_FAULT_SWEEP + 1,
                      .fault_class = EVENT_FAULT_NODES},
    [ACTION_FOREIGN] = {.verb = "create",
                        .traits = TRAIT_ON_SERVICE | TRAIT_PATH | TRAIT_BREAKS,
                        .fault_class = EVENT_FAULT_NODES},
    [ACTION_REMOVE] = {.verb = "remove",
                       .traits = TRAIT_ON_SERVICE | TRAIT_PATH | TRAIT_BREAKS,
                       .fault_class = EVENT_FAULT_NODES},

    [ACTION_CLOSE] = {.verb = "close", .traits = LOCK_VERB | TRAIT_FAIR, .stimulus = "close"},
    [ACTION_RESIZE] = {.verb = "resize", .traits = LOCK_VERB | TRAIT_FAIR, .stimulus = "resize"},
    [ACTION_OPEN] = {.verb = "open", .traits = LOCK_VERB, .stimulus = "open"},
    [ACTION_RMDIR] = {.verb = "rmdir",
                      .traits = FAULT_ON_DIRECTORY,
                      .fault = WORLD_FAULT_RMDIR + 1,
                      .fault_class = EVENT_FAULT_NODES},
    [ACTION_EVICT] = {.verb = "evict",
                      .traits = FAULT_ON_CONTENDER,
                      .fault = WORLD_FAULT_EVICT + 1,
                      .fault_class = EVENT_FAULT_NODES},
    [ACTION_TOUCH] = {.verb = "touch", .traits = FAULT_ON_CONTENDER, .fault = WORLD_FAULT_TOUCH + 1},
    [ACTION_RESTRICT] = {.verb = "restrict",
                         .traits = FAULT_ON_CONTENDER,
                         .fault = WORLD_FAULT_RESTRICT + 1,
                         .fault_class = EVENT_FAULT_NODES},
    [ACTION_FAIL_CALL] = {.verb = "fail-call",
                          .traits = FAULT_OF_MEMORY,
                          .fault = WORLD_FAULT_CALL + 1,
                          .fault_class = EVENT_FAULT_MEMORY},
};

const char *world_action_verb(int kind)
{
    const char *verb = kind >= 0 && kind < ACTION_KINDS ? world_action_infos[kind].verb : NULL;
    return verb != NULL ? verb : "unknown";
}
