/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Knowledge that was stale at the violation. A ledger of the coordinator's facts stands beside what each
 * process was told, both from events and labels. The sentences are differences between the two at the end. */
#include "explain/parts.h"

#include "base/array.h"
#include "base/assert.h"
#include "scenario/narrate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fact_node {
    int64_t number; /* its czxid */
    int64_t session;
    uint64_t made, gone;  /* steps; `gone` is valid if `is_gone` */
    uint64_t lost, heard; /* steps: the answer to its creation was lost; its process knew of it; 0 = not so */
    uint8_t process, lock;
    int32_t role;
    bool is_gone;
};

struct fact_session {
    int64_t number;
    uint64_t over; /* step at which the coordinator ended it; valid if `is_over` */
    uint8_t process;
    bool is_over, told;
};

struct fact_watch {
    int64_t number; /* czxid of the watched node; 0 = absent */
    uint64_t set;
    int32_t kind; /* enum event_watch */
    uint8_t process, lock;
};

/* A pair of a process and a lock. Each step is that of the last such event of any of its owners. */
struct fact_claim {
    uint64_t asked, ended,
        believes;          /* steps; `believes` = 1 + the step since which it believes, 0 = it does not */
    uint64_t fired;        /* step at which a watch of it fired, with no news of it since; 0 = none */
    uint64_t read;         /* step at which a server read the last list that was delivered */
    uint64_t waits, holds; /* owners, a bit each */
};

struct fact_process {
    int unanswered; /* requests that have no answer yet */
    bool linked;
};

struct facts {
    const struct explain_case *c;
    struct explanation *e;
    struct fact_node *node;
    struct fact_session *session;
    struct fact_watch *watch;
    int nodes, sessions, watches;
    size_t nodes_max, sessions_max, watches_max;
    struct fact_process process[WORLD_PROCESSES_MAX];
    struct fact_claim claim[WORLD_PROCESSES_MAX][WORLD_LOCKS_MAX];
    uint64_t step;
    bool refused;
};

/* ---- the ledger ---- */

static struct fact_node *node_of(struct facts *f, int64_t number)
{
    for (int i = f->nodes; i-- > 0;) {
        if (f->node[i].number == number) {
            return &f->node[i];
        }
    }
    return NULL;
}

static struct fact_session *session_of(struct facts *f, int64_t number)
{
    for (int i = f->sessions; i-- > 0;) {
        if (f->session[i].number == number) {
            return &f->session[i];
        }
    }
    return NULL;
}

static void add_node(struct facts *f, const struct event *event)
{
    if (!array_room(&f->node, (size_t)f->nodes, &f->nodes_max, sizeof *f->node, 64)) {
        f->refused = true;
        return;
    }
    f->node[f->nodes++] = (struct fact_node){.number = event->czxid,
                                             .session = event->session,
                                             .made = f->step,
                                             .process = event->process,
                                             .lock = event->lock,
                                             .role = event->node_role};
}

static void add_session(struct facts *f, const struct event *event)
{
    if (!array_room(&f->session, (size_t)f->sessions, &f->sessions_max, sizeof *f->session, 32)) {
        f->refused = true;
        return;
    }
    f->session[f->sessions++] = (struct fact_session){.number = event->session, .process = event->process};
}

static void add_watch(struct facts *f, const struct event *event)
{
    if (!array_room(&f->watch, (size_t)f->watches, &f->watches_max, sizeof *f->watch, 64)) {
        f->refused = true;
        return;
    }
    f->watch[f->watches++] =
        (struct fact_watch){event->czxid, f->step, event->watch, event->process, event->lock};
}

static struct fact_claim *claim_of(struct facts *f, const struct event *event)
{
    static struct fact_claim nothing; /* for events of no process or lock */
    bool has = event->process < WORLD_PROCESSES_MAX && event->lock < WORLD_LOCKS_MAX;
    return has ? &f->claim[event->process][event->lock] : &nothing;
}

static void drop_watch(struct facts *f, const struct event *event)
{
    for (int i = 0; i < f->watches; i++) {
        struct fact_watch *watch = &f->watch[i];
        if (watch->process == event->process && watch->lock == event->lock && watch->number == event->czxid &&
            watch->kind == event->watch) {
            *watch = f->watch[--f->watches];
            break;
        }
    }
    if (event->change_zxid != 0) {
        claim_of(f, event)->fired = f->step;
    }
}

static void end_session(struct facts *f, const struct event *event)
{
    struct fact_session *session = session_of(f, event->session);
    if (session != NULL && !session->is_over) {
        session->is_over = true;
        session->over = f->step;
    }
}

/* Notes that a process knows of the end of its session. */
static void hear_of_end(struct facts *f, const struct event *event)
{
    for (int i = 0; i < f->sessions; i++) {
        struct fact_session *session = &f->session[i];
        session->told = session->told || (session->process == event->process &&
                                          (event->session == 0 || session->number == event->session));
    }
}

static void end_node(struct facts *f, const struct event *event)
{
    struct fact_node *node = node_of(f, event->czxid);
    if (node != NULL) {
        node->is_gone = true;
        node->gone = f->step;
    }
}

/* A grant shows that its process knows its own nodes of this lock. A node whose create lost its answer does
 * not count as known. */
static void hear_of_grant(struct facts *f, const struct event *event)
{
    for (int i = 0; i < f->nodes; i++) {
        struct fact_node *node = &f->node[i];
        bool own = node->process == event->process && node->lock == event->lock && node->lost == 0;
        node->heard = own && node->heard == 0 ? f->step : node->heard;
    }
}

static void forget_process(struct facts *f, int process)
{
    LS_ASSERT(process >= 0);
    if (process < WORLD_PROCESSES_MAX) {
        memset(f->claim[process], 0, sizeof f->claim[process]);
    }
}

static void note_claim(struct facts *f, const struct event *event)
{
    LS_ASSERT(event->kind < EVENT_KINDS);
    struct fact_claim *claim = claim_of(f, event);
    uint64_t owner = 1ull << (event->owner & 63);
    switch (event->kind) {
    case EVENT_ASKED:
        claim->waits |= owner;
        claim->asked = f->step;
        break;
    case EVENT_GRANTED:
        claim->waits &= ~owner;
        claim->holds |= owner;
        break;
    case EVENT_FAILED:
        claim->waits &= ~owner;
        claim->ended = f->step;
        break;
    case EVENT_RELEASED:
        if (event->depth > 0) {
            break;
        }
        claim->holds &= ~owner;
        claim->ended = f->step;
        break;
    case EVENT_HOLD_LOST:
        claim->holds &= ~owner;
        claim->ended = f->step;
        break;
    case EVENT_BELIEVES:
        claim->believes = f->step + 1;
        break;
    case EVENT_DOUBTS:
        claim->believes = 0;
        break;
    case EVENT_WOKEN:
        claim->fired = 0;
        break;
    default:
        break;
    }
}

static void note_link(struct facts *f, const struct event *event)
{
    struct fact_process nothing = {0}, *process = &nothing;
    if (event->process < WORLD_PROCESSES_MAX) {
        process = &f->process[event->process];
    }
    switch (event->kind) {
    case EVENT_LINK_UP:
        process->linked = true;
        break;
    case EVENT_REQUEST:
        process->unanswered++;
        break;
    case EVENT_LINK_DOWN:
        process->linked = false;
        break;
    case EVENT_EXPIRED:
    case EVENT_CRASHED:
    case EVENT_STOPPED:
        *process = (struct fact_process){0};
        break;
    default:
        break;
    }
}

static void note(struct facts *f, const struct event *event)
{
    note_claim(f, event);
    note_link(f, event);
    switch (event->kind) {
    case EVENT_NODE_CREATED:
        add_node(f, event);
        break;
    case EVENT_GRANTED:
        hear_of_grant(f, event);
        break;
    case EVENT_NODE_DELETED:
        end_node(f, event);
        break;
    case EVENT_SESSION_OPENED:
        add_session(f, event);
        break;
    case EVENT_SESSION_CLOSING:
    case EVENT_SESSION_CLOSED:
        end_session(f, event);
        break;
    case EVENT_EXPIRED:
    case EVENT_LOST:
        hear_of_end(f, event);
        break;
    case EVENT_CRASHED:
    case EVENT_STOPPED:
        hear_of_end(f, event);
        forget_process(f, event->process);
        break;
    case EVENT_WATCH_SET:
        add_watch(f, event);
        break;
    case EVENT_WATCH_GONE:
        drop_watch(f, event);
        break;
    default:
        break;
    }
}

/* ---- answers ---- */

static bool is_answer_to(const struct story_choice *choice, int request)
{
    char word[64];
    snprintf(word, sizeof word, " %s-reply", narrator_request_name(request));
    size_t size = strlen(choice->label), length = strlen(word);
    return choice->step > 0 && action_has(&choice->action, TRAIT_DELIVERS) && size > length &&
           strcmp(choice->label + size - length, word) == 0;
}

/* An answer to a create is taken to be about the oldest contender of the process that has no answer yet. */
static void hear_of_node(struct facts *f, const struct story_choice *choice)
{
    LS_ASSERT(choice->step > 0);
    bool lost = strncmp(choice->remark, "lost", 4) == 0;
    for (int i = 0; i < f->nodes; i++) {
        struct fact_node *node = &f->node[i];
        if (node->process == choice->action.process && node->role != 0 && node->lost == 0 &&
            node->heard == 0) {
            node->lost = lost ? choice->step : 0;
            node->heard = lost ? 0 : choice->step;
            return;
        }
    }
}

/* Returns the last step before choice `index` in which a server read such a request of its process; or 0. */
static uint64_t read_at(const struct facts *f, int index, int request)
{
    const struct story *story = &f->c->story;
    LS_ASSERT(index >= 0 && index < story->choices);
    char word[64];
    snprintf(word, sizeof word, " %s", narrator_request_name(request));
    for (int i = index - 1; i > 0; i--) {
        const struct story_choice *choice = &story->choice[i];
        size_t size = strlen(choice->label), length = strlen(word);
        bool reads = choice->step > 0 && action_has(&choice->action, TRAIT_STEP) &&
                     !action_has(&choice->action, TRAIT_DELIVERS) &&
                     choice->action.process == story->choice[index].action.process;
        if (reads && size > length && strcmp(choice->label + size - length, word) == 0) {
            return choice->step;
        }
    }
    return 0;
}

static void hear_of_line(struct facts *f, int index)
{
    int process = f->c->story.choice[index].action.process;
    uint64_t read = read_at(f, index, EVENT_REQUEST_CHILDREN);
    for (int lock = 0; process < WORLD_PROCESSES_MAX && lock < WORLD_LOCKS_MAX; lock++) {
        f->claim[process][lock].read = read;
    }
}

/* Returns whether the choice delivers an answer whose label does not name the request. Such an answer is
 * taken for one to a create: at worst a node counts as known. */
static bool is_answer_to_anything(const struct story_choice *choice)
{
    static const char WORD[] = " reply";
    size_t size = strlen(choice->label), length = sizeof WORD - 1;
    return choice->step > 0 && action_has(&choice->action, TRAIT_DELIVERS) && size > length &&
           strcmp(choice->label + size - length, WORD) == 0;
}

static void count_answer(struct facts *f, const struct story_choice *choice)
{
    static const char WORD[] = "reply";
    size_t size = strlen(choice->label), length = sizeof WORD - 1;
    bool answers = choice->step > 0 && action_has(&choice->action, TRAIT_DELIVERS) && size > length &&
                   strcmp(choice->label + size - length, WORD) == 0;
    if (answers && choice->action.process < WORLD_PROCESSES_MAX) {
        f->process[choice->action.process].unanswered -= f->process[choice->action.process].unanswered > 0;
    }
}

static void note_answer(struct facts *f, int index)
{
    const struct story_choice *choice = &f->c->story.choice[index];
    if (is_answer_to(choice, EVENT_REQUEST_CREATE) || is_answer_to(choice, EVENT_REQUEST_MULTI) ||
        is_answer_to_anything(choice)) {
        hear_of_node(f, choice);
    } else if (is_answer_to(choice, EVENT_REQUEST_CHILDREN) && strncmp(choice->remark, "ok", 2) == 0) {
        hear_of_line(f, index);
    }
}

/* ---- locks of one group have one directory ---- */

static bool is_beside(const struct facts *f, int lock, int other)
{
    const struct world_options *options = &f->c->model.options;
    LS_ASSERT(lock < options->locks);
    return other == lock ||
           (other < options->locks && strcmp(options->lock_path[lock], options->lock_path[other]) == 0);
}

/* Returns the number of owners of the process that wait or hold, summed over the locks of the group. */
static int owners_beside(const struct facts *f, int process, int lock)
{
    int owners = 0;
    for (int other = 0; other < f->c->model.options.locks; other++) {
        const struct fact_claim *claim = &f->claim[process][other];
        owners += is_beside(f, lock, other) ? __builtin_popcountll(claim->waits | claim->holds) : 0;
    }
    return owners;
}

/* ---- sentences ---- */

static const char *name_of(const struct facts *f, int process)
{
    const struct world_options *options = &f->c->model.options;
    return process < options->processes ? options->name[process] : "the operator";
}

static const char *lock_of(const struct facts *f, int lock)
{
    return lock < f->c->model.options.locks ? f->c->model.lock_name[lock] : "the lock";
}

static void say(struct facts *f, int process, uint64_t since, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say(struct facts *f, int process, uint64_t since, const char *format, ...)
{
    struct explanation *e = f->e;
    if (e->stale == EXPLAIN_STALE_MAX) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e->stale_text[e->stale], EXPLAIN_TEXT_MAX, format, arguments);
    va_end(arguments);
    e->stale_since[e->stale] = since;
    e->stale_process[e->stale++] = process;
}

static unsigned long long wide(uint64_t step)
{
    return (unsigned long long)step;
}

/* A session that is over, of which its process was not told. */
static void compare_sessions(struct facts *f, int process)
{
    for (int i = 0; i < f->sessions; i++) {
        const struct fact_session *session = &f->session[i];
        if (session->process == process && session->is_over && !session->told) {
            say(f, process, session->over,
                "%s took its session for alive: it is over since step %llu, and %s was not told",
                name_of(f, process), wide(session->over), name_of(f, process));
        }
    }
}

/* A hold by a node that still stands, and whose session is over, of which its process was told. */
static void compare_session_of(struct facts *f, const struct fact_node *node, bool holds)
{
    const struct fact_session *session = session_of(f, node->session);
    if (holds && session != NULL && session->is_over && session->told) {
        say(f, node->process, session->over,
            "%s took the node at %s (zxid %lld) for one of its present session: it is of a session that is "
            "over "
            "since step %llu",
            name_of(f, node->process), lock_of(f, node->lock), (long long)node->number, wide(session->over));
    }
}

/* A belief in a hold whose node is gone. */
static void compare_belief(struct facts *f, int process, int lock)
{
    const struct fact_claim *claim = &f->claim[process][lock];
    const struct fact_node *last = NULL;
    for (int i = 0; i < f->nodes; i++) {
        const struct fact_node *node = &f->node[i];
        bool own = node->process == process && node->lock == lock && node->role != 0;
        if (own && !node->is_gone) {
            compare_session_of(f, node, claim->holds != 0);
            return;
        }
        last = own ? node : last;
    }
    if (claim->believes > 0 && last != NULL) {
        say(f, process, last->gone, "%s believed that it holds %s: its node is gone since step %llu",
            name_of(f, process), lock_of(f, lock), wide(last->gone));
    } else if (claim->holds != 0 && last != NULL) {
        say(f, process, last->gone, "%s took %s for held: its node is gone since step %llu",
            name_of(f, process), lock_of(f, lock), wide(last->gone));
    }
}

/* Returns whether a process has more contenders at the locks of the group than owners that wait or hold. */
static bool has_spare_node(const struct facts *f, int process, int lock)
{
    int standing = 0;
    for (int i = 0; i < f->nodes; i++) {
        const struct fact_node *node = &f->node[i];
        bool own = node->process == process && node->role != 0 && !node->is_gone;
        standing += own && is_beside(f, lock, node->lock);
    }
    return standing > owners_beside(f, process, lock);
}

/* A standing node of which its process does not know, or which it needs no more. */
static void compare_nodes(struct facts *f, int process)
{
    for (int i = 0; i < f->nodes; i++) {
        const struct fact_node *node = &f->node[i];
        if (node->process != process || node->role == 0 || node->is_gone || node->lock >= WORLD_LOCKS_MAX) {
            continue;
        }
        const struct fact_claim *claim = &f->claim[process][node->lock];
        if (node->lost > 0) {
            say(f, process, node->made,
                "%s did not know of its node at %s (zxid %lld), which stands since step %llu: the answer was "
                "lost "
                "at step %llu",
                name_of(f, process), lock_of(f, node->lock), (long long)node->number, wide(node->made),
                wide(node->lost));
        } else if (node->heard == 0) {
            say(f, process, node->made,
                "%s did not know of its node at %s (zxid %lld), which stands since step %llu: no answer has "
                "come",
                name_of(f, process), lock_of(f, node->lock), (long long)node->number, wide(node->made));
        } else if (claim->ended > node->made && has_spare_node(f, process, node->lock)) {
            say(f, process, claim->ended,
                "%s needs its node at %s (zxid %lld) no more since step %llu, and it stands",
                name_of(f, process), lock_of(f, node->lock), (long long)node->number, wide(claim->ended));
        }
    }
}

/* Returns the last step behind `step` at which another process's contender came or went; 0 = none. */
static uint64_t changed_behind(const struct facts *f, int process, int lock, uint64_t step, int *by,
                               bool *gone)
{
    uint64_t last = 0;
    for (int i = 0; i < f->nodes; i++) {
        const struct fact_node *node = &f->node[i];
        if (!is_beside(f, lock, node->lock) || node->role == 0 || node->process == process) {
            continue;
        }
        uint64_t at = node->is_gone ? node->gone : node->made;
        if (at > step && at >= last) {
            last = at;
            *by = node->process;
            *gone = node->is_gone;
        }
    }
    return last;
}

static void compare_line(struct facts *f, int process, int lock)
{
    const struct fact_claim *claim = &f->claim[process][lock];
    int by = 0;
    bool gone = false;
    uint64_t at = claim->read > 0 ? changed_behind(f, process, lock, claim->read, &by, &gone) : 0;
    if (at > 0 && (claim->waits | claim->holds | claim->believes) != 0) {
        say(f, process, at, "%s knew the line of %s as of step %llu: since step %llu the node of %s %s",
            name_of(f, process), lock_of(f, lock), wide(claim->read), wide(at), name_of(f, by),
            gone ? "is gone" : "stands in it");
    }
}

/* Returns whether only a watch can tell the process of a change: it is connected and awaits no answer, and
 * the scenario has no leases. */
static bool sleeps(const struct facts *f, int process)
{
    const struct fact_process *of = &f->process[process];
    LS_ASSERT(of->unanswered >= 0);
    return of->linked && of->unanswered == 0 && !scenario_has_leases(&f->c->scenario);
}

static void compare_watches(struct facts *f, int process, int lock)
{
    const struct fact_claim *claim = &f->claim[process][lock];
    int standing = 0, own = 0;
    uint64_t set = 0;
    for (int i = 0; i < f->watches; i++) {
        const struct fact_watch *watch = &f->watch[i];
        if (watch->process == process && is_beside(f, lock, watch->lock)) {
            standing++;
            own += watch->kind == EVENT_WATCH_OWN;
            set = watch->set;
        }
    }
    if (claim->waits == 0) {
        return;
    }
    if (claim->fired > 0) {
        say(f, process, claim->fired,
            "%s waited for a watch that has fired at step %llu, and no news of it has come",
            name_of(f, process), wide(claim->fired));
    } else if (standing == 0 && sleeps(f, process)) {
        say(f, process, claim->asked,
            "%s waited for %s, and no watch of it stands: no change will be told to it", name_of(f, process),
            lock_of(f, lock));
    } else if (standing > 0 && own == standing) {
        say(f, process, set, "%s waited for the end of a node of its own since step %llu",
            name_of(f, process), wide(set));
    }
}

static void compare(struct facts *f, int process)
{
    compare_sessions(f, process);
    compare_nodes(f, process);
    for (int lock = 0; lock < f->c->model.options.locks && lock < WORLD_LOCKS_MAX; lock++) {
        compare_belief(f, process, lock);
        compare_watches(f, process, lock);
        compare_line(f, process, lock);
    }
}

/* Compares the process of the violation first. */
static void compare_all(struct facts *f)
{
    int processes = f->c->model.options.processes;
    int first = f->c->process >= 0 ? f->c->process : f->c->story.stats.finding[f->c->position].process;
    if (first < processes) {
        compare(f, first);
    }
    for (int p = 0; p < processes; p++) {
        if (p != first) {
            compare(f, p);
        }
    }
}

static void read_story(struct facts *f)
{
    const struct story *story = &f->c->story;
    LS_ASSERT(f->c->last < story->choices);
    for (int i = 0; i <= f->c->last; i++) {
        const struct story_choice *choice = &story->choice[i];
        LS_ASSERT(choice->first + choice->events <= story->events);
        f->step = choice->step > 0 ? choice->step : f->step;
        count_answer(f, choice); /* first: the events are requests that follow from the answer */
        for (int k = 0; k < choice->events; k++) {
            note(f, &story->event[choice->first + k]);
        }
        note_answer(f, i);
    }
}

bool explain_stale(const struct explain_case *c, struct explanation *e)
{
    struct facts *f = calloc(1, sizeof *f);
    bool whole = false;
    if (f == NULL) {
        return false;
    }
    f->c = c;
    f->e = e;
    read_story(f);
    whole = !f->refused;
    if (whole) {
        compare_all(f);
    }
    free(f->node);
    free(f->session);
    free(f->watch);
    free(f);
    return whole;
}
