/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "coord/coordinator.h"

#include <stdio.h>
#include <string.h>

static const struct coordinator *all[COORDINATORS_MAX];
static int count;

static const char *fault_name[WORLD_FAULTS] = {
    [WORLD_FAULT_LOSS] = "loss",         [WORLD_FAULT_EXPIRE] = "expire", [WORLD_FAULT_PAUSE] = "pause",
    [WORLD_FAULT_CRASH] = "crash",       [WORLD_FAULT_REFUSE] = "refuse", [WORLD_FAULT_LAG] = "lag",
    [WORLD_FAULT_LATE] = "late",         [WORLD_FAULT_CANCEL] = "cancel", [WORLD_FAULT_ALLOC] = "alloc",
    [WORLD_FAULT_SWEEP] = "sweep",       [WORLD_FAULT_SERVER] = "server", [WORLD_FAULT_RMDIR] = "rmdir",
    [WORLD_FAULT_EVICT] = "evict",       [WORLD_FAULT_TOUCH] = "touch",   [WORLD_FAULT_CALL] = "call",
    [WORLD_FAULT_RESTRICT] = "restrict",
};

/* Traits that no own kind of a coordinator may have. For instance, a search takes ACTION_DELIVER for the only
 * kind that delivers. */
#define TRAITS_OF_ALL (TRAIT_VERB | TRAIT_PATH | TRAIT_CONTENDER | TRAIT_MEMORY | TRAIT_DELIVERS)

static bool has_all(const struct coord_kind *own, unsigned traits)
{
    return (own->info.traits & traits) == traits;
}

static bool has_any(const struct coord_kind *own, unsigned traits)
{
    return (own->info.traits & traits) != 0;
}

static void add_kind(const struct coord_kind *own)
{
    LS_ALWAYS(own->kind >= ACTION_OWN && own->kind < ACTION_KINDS);
    LS_ALWAYS(world_action_infos[own->kind].verb == NULL && own->info.verb != NULL);
    LS_ALWAYS(!has_any(own, TRAITS_OF_ALL));
    LS_ALWAYS(has_all(own, TRAIT_SYSTEM | TRAIT_STEP) || !has_any(own, TRAIT_SYSTEM | TRAIT_STEP));
    LS_ALWAYS(has_any(own, TRAIT_ON_SERVICE) || !has_any(own, TRAIT_SERVER | TRAIT_DIRECTORY));
    LS_ALWAYS(has_any(own, TRAIT_STEP) || (own->usage != NULL && own->help != NULL));
    LS_ALWAYS(has_any(own, TRAIT_ON_PROCESS) || !own->at_server);
    LS_ALWAYS(own->info.fault == 0 ||
              (own->info.fault <= WORLD_FAULTS && fault_name[own->info.fault - 1] != NULL));
    world_action_infos[own->kind] = own->info;
}

static void add_fault(const struct coord_fault *own)
{
    LS_ALWAYS(own->fault >= WORLD_FAULT_OWN && own->fault < WORLD_FAULTS);
    LS_ALWAYS(fault_name[own->fault] == NULL && own->name != NULL && own->never != NULL);
    fault_name[own->fault] = own->name;
}

void coordinator_add(const struct coordinator *coordinator)
{
    LS_ALWAYS(count < COORDINATORS_MAX);
    all[count++] = coordinator;
    for (const struct coord_fault *own = coordinator->faults; own != NULL && own->fault != 0; own++) {
        add_fault(own);
    }
    for (const struct coord_kind *own = coordinator->kinds; own != NULL && own->kind != 0; own++) {
        add_kind(own);
    }
    int options = 0;
    while (coordinator->options != NULL && coordinator->options[options].name != NULL) {
        options++;
    }
    LS_ALWAYS(options <= WORLD_OWN_OPTIONS_MAX);
}

const struct coord_kind *coordinator_own_kind(const struct coordinator *coordinator, unsigned kind)
{
    const struct coord_kind *own = coordinator->kinds;
    while (own != NULL && own->kind != 0 && own->kind != kind) {
        own++;
    }
    return own != NULL && own->kind != 0 ? own : NULL;
}

bool coordinator_is_at_server(const struct coordinator *coordinator, unsigned kind)
{
    const struct coord_kind *own = coordinator_own_kind(coordinator, kind);
    return own != NULL && own->at_server;
}

bool coordinator_has_kind(const struct coordinator *coordinator, unsigned kind)
{
    return kind < ACTION_OWN ? world_action_infos[kind].verb != NULL
                             : coordinator_own_kind(coordinator, kind) != NULL;
}

static const struct coord_fault *own_fault(const struct coordinator *coordinator, enum world_fault fault)
{
    const struct coord_fault *own = coordinator->faults;
    while (own != NULL && own->fault != 0 && own->fault != fault) {
        own++;
    }
    return own != NULL && own->fault != 0 ? own : NULL;
}

bool coordinator_has_fault(const struct coordinator *coordinator, enum world_fault fault)
{
    return fault < WORLD_FAULT_OWN ? fault_name[fault] != NULL : own_fault(coordinator, fault) != NULL;
}

const char *coordinator_never(const struct coordinator *coordinator, enum world_fault fault)
{
    const struct coord_fault *own = own_fault(coordinator, fault);
    return own != NULL ? own->never : NULL;
}

const char *coordinator_lacking(const struct world_options *options, enum world_fault fault)
{
    static char text[80];
    const struct coordinator *coordinator = coordinator_find(options->coordinator);
    if (coordinator_has_fault(coordinator, fault)) {
        return coordinator->lacking(options, fault);
    }
    snprintf(text, sizeof text, "a fault that the coordinator %s has", coordinator->name);
    return text;
}

const char *world_fault_name(enum world_fault fault)
{
    LS_ASSERT(fault < WORLD_FAULTS);
    return fault_name[fault];
}

const struct coordinator *coordinator_at(int index)
{
    return index < count ? all[index] : NULL;
}

const struct coordinator *coordinator_find(const char *name)
{
    const char *wanted = name != NULL ? name : "zookeeper";
    for (int i = 0; i < count; i++) {
        if (strcmp(all[i]->name, wanted) == 0) {
            return all[i];
        }
    }
    return NULL;
}
