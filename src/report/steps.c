/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/steps.h"

#include "base/assert.h"
#include "report/fields.h"

#include <cjson/cJSON.h>
#include <string.h>

/* Names of the number fields of an event, by kind, as <lockstep/event.h> has them. NULL = no number is
 * added. */
static const struct {
    const char *code, *zxid, *cause;
} FIELDS[EVENT_KINDS] = {
    [EVENT_ASKED] = {"timeout_ms", NULL, "call_locks"},
    [EVENT_GRANTED] = {"depth", "token", NULL},
    [EVENT_FAILED] = {"rc", NULL, "within_stop"},
    [EVENT_RELEASED] = {"depth", NULL, NULL},
    [EVENT_REFUSED] = {"rc", NULL, NULL},
    [EVENT_FREED] = {"rc", NULL, "within_stop"},
    [EVENT_WARNED] = {"warning", NULL, NULL},
    [EVENT_DOUBTS] = {"belief", NULL, "doubt"},
    [EVENT_NODE_CREATED] = {"node_role", "czxid", "creator_idle"},
    [EVENT_NODE_DELETED] = {"node_role", "czxid", "change_zxid"},
    [EVENT_NODE_SET] = {"node_role", "czxid", "change_zxid"},
    [EVENT_SESSION_CLOSING] = {"time_is_up", NULL, NULL},
    [EVENT_WATCH_SET] = {"watch", "czxid", NULL},
    [EVENT_WATCH_GONE] = {"watch", "czxid", "change_zxid"},
    [EVENT_WOKEN] = {"zk_type", "czxid", "change_zxid"},
    [EVENT_EFFECT] = {"taken", "token", "guard_czxid"},
    [EVENT_WRITTEN] = {"rc", "token", NULL},
    [EVENT_REVOKE_ASKED] = {NULL, "token", NULL},
    [EVENT_REVOKE_SENT] = {"rc", NULL, NULL},
    [EVENT_FAULT] = {"action", NULL, NULL},
    [EVENT_MISBEHAVED] = {"offence", NULL, NULL},
    [EVENT_SETTLED] = {"idle", NULL, NULL},
    [EVENT_LOCK_CLOSED] = {"rc", NULL, NULL},
    [EVENT_LISTENS] = {"rc", NULL, NULL},
    [EVENT_HOLD_LOST] = {NULL, "token", "lease_timer"},
    [EVENT_CAPACITY] = {"capacity", NULL, NULL},
    [EVENT_COUNT_SET] = {"capacity", NULL, NULL},
    [EVENT_OUTAGE] = {"outage", NULL, NULL},
};

/* ---- the whole run ---- */

static bool add_processes(cJSON *object, const struct world_options *options)
{
    cJSON *list = cJSON_AddArrayToObject(object, "processes");
    bool added = list != NULL;
    for (int i = 0; added && i < options->processes; i++) {
        added = add_item(list, cJSON_CreateString(options->name[i]));
    }
    return added;
}

/* Adds the locks: name, path, group, and the number of units that the group has. */
static bool add_locks(cJSON *object, const struct scenario *scenario)
{
    cJSON *list = cJSON_AddArrayToObject(object, "locks");
    bool added = list != NULL;
    for (int i = 0; added && i < scenario->options.locks; i++) {
        const struct ls_lock_spec *spec = &scenario->options.lock[i];
        cJSON *lock = cJSON_CreateObject();
        added = add_item(list, lock) && add_string(lock, "name", scenario->lock_name[i]) &&
                add_string(lock, "path", scenario->options.lock_path[i]) &&
                add_number(lock, "group", spec->group) && add_number(lock, "capacity", spec->capacity);
    }
    return added;
}

/* Adds the durations of a world with a clock. Leaves out session_timeout_ms for a coordinator with leases. */
static bool add_times(cJSON *object, const struct steps *steps)
{
    const struct world_options *options = &steps->run->setup.scenario->options;
    const struct coordinator *coordinator = coordinator_find(options->coordinator);
    if (!steps->run->set.context.timed) {
        return true;
    }
    return add_number(object, "latency_min_ms", options->latency_min_ms) &&
           add_number(object, "latency_max_ms", options->latency_max_ms) &&
           ((coordinator != NULL && coordinator->leases) ||
            add_number(object, "session_timeout_ms", options->session_timeout_ms));
}

struct cJSON *steps_head(struct steps *steps, const struct trace *trace, struct run *run)
{
    const struct scenario *scenario = run->setup.scenario;
    const char *coordinator = scenario->options.coordinator;
    *steps = (struct steps){.trace = trace, .run = run, .detail = {.server = -1}};
    cJSON *head = cJSON_CreateObject();
    if (head && add_number(head, "format", STEPS_FORMAT) && add_string(head, "version", trace->tool) &&
        add_string(head, "scenario", trace->name) && add_string(head, "recipe", trace->recipe) &&
        add_string(head, "coordinator", coordinator ? coordinator : "zookeeper") &&
        add_string(head, "schedule", trace->schedule) && add_number(head, "seed", (double)trace->seed) &&
        add_string(head, "without", trace->without) && add_string(head, "found", trace->found) &&
        cJSON_AddBoolToObject(head, "timed", run->set.context.timed) && add_times(head, steps) &&
        add_number(head, "servers", scenario->options.servers) && add_processes(head, &scenario->options) &&
        add_locks(head, scenario) && add_string(head, "text", trace->text)) {
        return head;
    }
    cJSON_Delete(head);
    return NULL;
}

/* ---- events ---- */

static const char *process_name(const struct steps *steps, unsigned process)
{
    const struct world_options *options = &steps->run->setup.scenario->options;
    return process < (unsigned)options->processes ? options->name[process] : NULL;
}

static bool add_field(cJSON *object, const char *name, int64_t value)
{
    return name == NULL || add_number(object, name, (double)value);
}

static cJSON *event_object(struct steps *steps, const struct event *event)
{
    const struct scenario *scenario = steps->run->setup.scenario;
    const char *process = process_name(steps, event->process);
    bool has_lock = event->lock < scenario->options.locks;
    LS_ASSERT(event->kind < EVENT_KINDS);
    cJSON *object = cJSON_CreateObject();
    if (object && add_string(object, "kind", event_name((enum event_kind)event->kind)) &&
        (process == NULL || add_string(object, "process", process)) &&
        (!has_lock || add_string(object, "lock", scenario->lock_name[event->lock])) &&
        add_number(object, "owner", event->owner) &&
        add_field(object, FIELDS[event->kind].code, event->code) &&
        add_field(object, FIELDS[event->kind].zxid, event->zxid) &&
        add_field(object, FIELDS[event->kind].cause, event->cause) &&
        (event->kind != EVENT_REQUEST ||
         add_string(object, "request", narrator_request_name(event->request))) &&
        (event->session == 0 || add_number(object, "session", (double)event->session)) &&
        (event->path == NULL || add_string(object, "path", event->path))) {
        return object;
    }
    cJSON_Delete(object);
    return NULL;
}

static bool add_events(struct steps *steps, cJSON *object, const struct replay_step *step)
{
    cJSON *list = cJSON_AddArrayToObject(object, "events");
    bool added = list != NULL;
    state_view_note(&steps->view, step);
    for (int i = 0; added && i < step->events; i++) {
        added = add_item(list, event_object(steps, &step->event[i]));
    }
    return added;
}

/* ---- one step ---- */

/* Adds the lines of a text, each without up to `indent` blanks at its beginning. */
static bool add_lines(cJSON *object, const char *name, const char *text, size_t indent)
{
    cJSON *list = cJSON_AddArrayToObject(object, name);
    bool added = list != NULL;
    while (added && *text != 0) {
        char line[1024];
        size_t size = strcspn(text, "\n"), skipped = strspn(text, " ");
        skipped = skipped < indent ? skipped : indent;
        snprintf(line, sizeof line, "%.*s", (int)(size - skipped), text + skipped);
        added = add_item(list, cJSON_CreateString(line));
        text += size + (text[size] == '\n');
    }
    return added;
}

static bool add_violated(const struct steps *steps, cJSON *object, check_mask mask)
{
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    int count = check_violated(&steps->run->stats, mask, violated);
    cJSON *list = cJSON_AddArrayToObject(object, "violated");
    bool added = list != NULL;
    for (int i = 0; added && i < count; i++) {
        const struct check_finding *finding = &steps->run->stats.finding[violated[i]];
        cJSON *item = cJSON_CreateObject();
        added = add_item(list, item) && add_string(item, "property", all[violated[i]]->name) &&
                add_string(item, "why", finding->why) &&
                add_string(item, "promised", all[violated[i]]->sentence) &&
                add_number(item, "number", (double)finding->step);
    }
    return added;
}

static bool add_beliefs(const struct steps *steps, cJSON *object)
{
    const struct scenario *scenario = steps->run->setup.scenario;
    cJSON *list = cJSON_AddArrayToObject(object, "beliefs");
    struct state_belief belief;
    bool added = list != NULL;
    for (int at = 0; added && state_belief_next(&steps->view, steps->run, &at, &belief);) {
        cJSON *item = cJSON_CreateObject();
        added = add_item(list, item) && add_string(item, "process", scenario->options.name[belief.process]) &&
                add_string(item, "lock", scenario->lock_name[belief.lock]) &&
                add_number(item, "owner", belief.owner) &&
                add_string(item, "belief", state_belief_word(belief.belief));
    }
    return added;
}

static bool add_state(const struct steps *steps, cJSON *object)
{
    static char text[STATE_TEXT_BYTES];
    world_describe(steps->run->world, text, sizeof text);
    return add_lines(object, "state", text, 0) && add_beliefs(steps, object);
}

/* The actions that are possible behind a step. */
struct enabled {
    struct action action[WORLD_ACTIONS_MAX];
    int count;
};

static bool add_choices(const struct steps *steps, cJSON *object, const struct enabled *enabled)
{
    char label[WORLD_LABEL_MAX];
    cJSON *list = cJSON_AddArrayToObject(object, "choices");
    bool added = list != NULL;
    for (int i = 0; added && i < enabled->count; i++) {
        if (run_allows(steps->run, &enabled->action[i])) {
            world_label(steps->run->world, &enabled->action[i], label);
            added = add_item(list, cJSON_CreateString(label));
        }
    }
    return added;
}

static bool add_server(cJSON *object, int server)
{
    char name[16];
    LS_ASSERT(server >= -1 && server < WORLD_SERVERS_MAX);
    snprintf(name, sizeof name, "s%d", server + 1);
    return server < 0 || add_string(object, "server", name);
}

/* Adds a fault that lasts: the action that ends it is possible. */
static bool add_lasting(const struct steps *steps, cJSON *list, const struct action *end)
{
    const char *process = process_name(steps, end->process);
    char label[WORLD_LABEL_MAX];
    struct coord_detail detail;
    LS_ASSERT(action_has(end, TRAIT_HEALS));
    cJSON *item = cJSON_CreateObject();
    world_label(steps->run->world, end, label);
    world_detail(steps->run->world, end, &detail);
    return add_item(list, item) && add_string(item, "end", label) &&
           (process == NULL || add_string(item, "process", process)) && add_server(item, detail.server);
}

static bool is_listed(const struct enabled *enabled, const struct action *action)
{
    for (int i = 0; i < enabled->count; i++) {
        const struct action *other = &enabled->action[i];
        if (other->kind == action->kind && other->process == action->process &&
            other->server == action->server) {
            return true;
        }
    }
    return false;
}

static void append_if_enabled(const struct steps *steps, struct enabled *ends, struct action end)
{
    if (ends->count < WORLD_ACTIONS_MAX && !is_listed(ends, &end) && world_enabled(steps->run->world, &end)) {
        ends->action[ends->count++] = end;
    }
}

/* Appends the ends of faults that are possible, but are no choices of a search: those of partitions and of
 * lags in worlds of ZooKeeper. */
static void append_ends(const struct steps *steps, struct enabled *ends)
{
    const struct world_options *options = &steps->run->setup.scenario->options;
    for (int p = 0; p < options->processes; p++) {
        append_if_enabled(steps, ends, (struct action){.kind = ACTION_HEAL, .process = (uint8_t)p});
    }
    for (int s = 0; s < options->servers; s++) {
        append_if_enabled(
            steps, ends,
            (struct action){.kind = ACTION_THAW, .process = EVENT_PROCESS_NONE, .server = (uint8_t)s});
    }
}

/* Adds the faults that last, if there are any: their ends are enabled. */
static bool add_all_lasting(const struct steps *steps, cJSON *object, struct enabled *enabled)
{
    cJSON *list = NULL;
    bool added = true;
    append_ends(steps, enabled);
    for (int i = 0; added && i < enabled->count; i++) {
        if (action_has(&enabled->action[i], TRAIT_HEALS)) {
            list = list != NULL ? list : cJSON_AddArrayToObject(object, "lasting");
            added = list != NULL && add_lasting(steps, list, &enabled->action[i]);
        }
    }
    return added;
}

/* Adds the name of each process to which a notice is under way, once for each notice. */
static bool add_notices(const struct steps *steps, cJSON *object)
{
    const struct world_options *options = &steps->run->setup.scenario->options;
    cJSON *list = NULL;
    bool added = true;
    for (int p = 0; added && p < options->processes; p++) {
        int count = world_notices(steps->run->world, p);
        if (count > 0 && list == NULL) {
            list = cJSON_AddArrayToObject(object, "notices");
            added = list != NULL;
        }
        while (added && count-- > 0) {
            added = add_item(list, cJSON_CreateString(options->name[p]));
        }
    }
    return added;
}

static bool add_future(const struct steps *steps, cJSON *object)
{
    static struct enabled enabled;
    enabled.count = world_actions(steps->run->world, enabled.action);
    LS_ASSERT(enabled.count >= 0 && enabled.count <= WORLD_ACTIONS_MAX);
    return add_choices(steps, object, &enabled) && add_all_lasting(steps, object, &enabled) &&
           add_notices(steps, object);
}

/* Returns true if the action of a step is a fault. A verb of a caller, such as a cancel, is none, though a
 * budget may pay for it. Nor is an expiry that was due: it has no EVENT_FAULT. */
static bool is_fault(const struct replay_step *step)
{
    bool told = false;
    for (int i = 0; i < step->events; i++) {
        told = told || step->event[i].kind == EVENT_FAULT;
    }
    return action_has(step->action, TRAIT_BREAKS) && !action_has(step->action, TRAIT_VERB) && told;
}

static bool add_true(cJSON *object, const char *name, bool is_true)
{
    return !is_true || cJSON_AddTrueToObject(object, name) != NULL;
}

/* Adds what the action carries between a process and a server. */
static bool add_detail(const struct steps *steps, cJSON *object, const struct action *action)
{
    static const char *const NAMES[] = {[COORD_NOTHING] = NULL,
                                        [COORD_REQUEST] = "request",
                                        [COORD_REPLY] = "reply",
                                        [COORD_NOTICE] = "notice",
                                        [COORD_LINK] = "link"};
    const struct coord_detail *detail = &steps->detail;
    LS_ASSERT(detail->carries <= COORD_LINK);
    const char *carries = NAMES[detail->carries];
    return add_server(object, detail->server) &&
           (carries == NULL || add_string(object, "carries", carries)) &&
           (carries == NULL || action->handle == 0 || add_number(object, "connection", action->handle)) &&
           add_true(object, "lost", detail->lost) &&
           (detail->text[0] == 0 || add_string(object, "brings", detail->text));
}

void steps_choice(struct steps *steps, const struct replay_step *step)
{
    steps->detail = (struct coord_detail){.server = -1};
    if (step->action != NULL) {
        world_detail(steps->run->world, step->action, &steps->detail);
    }
}

/* Adds the kind of the action, its process and its server. */
static bool add_action(const struct steps *steps, cJSON *object, const struct replay_step *step)
{
    const struct action *action = step->action;
    const char *process = process_name(steps, action->process);
    return add_string(object, "kind", world_action_verb(action->kind)) &&
           (process == NULL || add_string(object, "process", process)) &&
           add_true(object, "fault", is_fault(step)) &&
           add_true(object, "heals", action_has(action, TRAIT_HEALS)) &&
           add_true(object, "verb", action_has(action, TRAIT_VERB)) &&
           add_true(object, "delivers", action_has(action, TRAIT_DELIVERS)) &&
           add_detail(steps, object, action);
}

struct cJSON *steps_step(struct steps *steps, const struct replay_step *step)
{
    LS_ASSERT((step->number > 0) == (step->action != NULL));
    cJSON *object = cJSON_CreateObject();
    double now_ms = (double)world_now_ms(steps->run->world);
    if (object && add_number(object, "step", steps->count) &&
        add_number(object, "number", (double)step->number) && add_string(object, "label", step->label) &&
        add_string(object, "remark", step->remark) &&
        (step->note[0] == 0 || add_string(object, "note", step->note)) &&
        (step->action == NULL || add_action(steps, object, step)) && add_number(object, "now_ms", now_ms) &&
        add_events(steps, object, step) && add_lines(object, "text", step->text, REPLAY_INDENT) &&
        add_violated(steps, object, step->violated) && add_state(steps, object) &&
        add_future(steps, object)) {
        steps->count++;
        return object;
    }
    cJSON_Delete(object);
    return NULL;
}

struct cJSON *steps_end(const struct steps *steps)
{
    const char *trouble = run_trouble(steps->run);
    cJSON *end = cJSON_CreateObject();
    if (end && add_number(end, "actions", (double)steps->run->steps) &&
        (trouble == NULL || add_string(end, "trouble", trouble)) && add_violated(steps, end, CHECK_ALL)) {
        return end;
    }
    cJSON_Delete(end);
    return NULL;
}

void steps_close(struct steps *steps)
{
    state_view_close(&steps->view);
    LS_ASSERT(steps->view.line == NULL);
}
