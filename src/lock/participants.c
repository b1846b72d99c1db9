/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The participants of a mutex. A survey asks for them once: it sends a list, and then reads the contents of
 * each contender, one by one in the order of the line. It is not repeated after a loss: the caller can ask
 * again. */
#include "lock/claim.h"

#include <string.h>

struct lock_survey {
    struct lock_survey *next;
    struct lock_place *place;
    struct ls_mutex *mutex; /* NULL: answered already, while a request is still in flight */
    void *user;
    struct lock_call *call;      /* a blocking caller; NULL: the answer goes to on_participants */
    struct ls_participants *out; /* of the blocking caller */
    struct ls_participant *list; /* name and contents of each are one allocation, at name */
    int32_t count;               /* number of names in the list */
    int32_t at;                  /* index of the name that is being read */
    int32_t rc;
    bool in_flight;
    bool done; /* `rc` and the list are the answer, perhaps undelivered */
};

static struct ls_env *env_of(const struct lock_survey *survey)
{
    return survey->place->session->env;
}

static void take_off(struct lock_survey *survey)
{
    struct lock_survey **link = &survey->place->session->surveys;
    while (*link != survey)
        link = &(*link)->next;
    *link = survey->next;
}

/* Frees a survey that is not in session->surveys. */
static void free_survey(struct lock_survey *survey)
{
    struct ls_env *env = env_of(survey);
    for (int i = 0; i < survey->count; i++)
        ls_env_free(env, (void *)(uintptr_t)survey->list[i].name);
    ls_env_free(env, survey->list);
    if (!--survey->place->users)
        ls_env_free(env, survey->place);
    ls_env_free(env, survey);
}

static void discard(struct lock_survey *survey)
{
    take_off(survey);
    free_survey(survey);
}

/* Answers the blocking caller, which then owns the list. */
static void answer_call(struct lock_survey *survey, int rc)
{
    struct lock_call *call = survey->call;
    if (!rc) {
        *survey->out = (struct ls_participants){env_of(survey), survey->list, survey->count};
        survey->list = NULL;
        survey->count = 0;
    }
    call->rc = rc;
    call->done = true;
    ls_env_wake(env_of(survey), &call->waiter);
    survey->call = NULL;
    survey->mutex = NULL;
}

static void end(struct lock_survey *survey, int rc)
{
    survey->rc = rc;
    survey->done = true;
    if (survey->call)
        answer_call(survey, rc);
    if (!survey->mutex && !survey->in_flight)
        discard(survey);
}

static int error_of(const struct lock_survey *survey, int zk_rc)
{
    if (survey->place->session->state == LS_STATE_CLOSED)
        return LS_ECLOSED;
    return zk_rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK;
}

static struct lock_survey *enter(const void *data)
{
    struct lock_survey *survey = (struct lock_survey *)(uintptr_t)data;
    struct ls_env *env = env_of(survey);
    ls_env_callback_enter(env);
    ls_env_lock(env);
    survey->in_flight = false;
    return survey;
}

static void read_next(struct lock_survey *survey);

/* Copies name and contents into one new allocation. Returns false if memory is short. */
static bool keep(struct lock_survey *survey, const char *value, int size)
{
    struct ls_participant *participant = &survey->list[survey->at];
    size_t name_size = strlen(participant->name) + 1;
    size_t value_size = size > 0 ? (size_t)size : 0; /* null contents have length -1 (F56) */
    char *both = ls_env_alloc(env_of(survey), name_size + value_size + 1);
    if (!both)
        return false;
    memcpy(both, participant->name, name_size);
    if (value_size)
        memcpy(both + name_size, value, value_size);
    ls_env_free(env_of(survey), (void *)(uintptr_t)participant->name);
    participant->name = both;
    participant->contents = both + name_size;
    participant->size = (int)value_size;
    survey->at++;
    return true;
}

static void leave_out(struct lock_survey *survey)
{
    size_t behind = (size_t)(survey->count - survey->at - 1);
    ls_env_free(env_of(survey), (void *)(uintptr_t)survey->list[survey->at].name);
    memmove(&survey->list[survey->at], &survey->list[survey->at + 1], behind * sizeof survey->list[0]);
    survey->count--;
}

static void on_contents(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    (void)stat;
    struct lock_survey *survey = enter(data);
    struct ls_session *session = survey->place->session;
    if (rc == ZNONODE)
        leave_out(survey);
    if (!survey->mutex)
        discard(survey);
    else if (rc != ZOK && rc != ZNONODE)
        end(survey, error_of(survey, rc));
    else if (rc == ZOK && !keep(survey, value, size))
        end(survey, LS_ENOMEM);
    else
        read_next(survey);
    lock_mutex_leave(session);
}

static void read_next(struct lock_survey *survey)
{
    const struct lock_place *place = survey->place;
    if (survey->at == survey->count) {
        end(survey, LS_OK);
        return;
    }
    const char *name = survey->list[survey->at].name;
    char *path = ls_env_alloc(env_of(survey), place->size + strlen(name) + 2);
    if (!path) {
        end(survey, LS_ENOMEM);
        return;
    }
    size_t size = place->size > 1 ? place->size : 0;
    memcpy(path, place->path, size);
    path[size] = '/';
    memcpy(path + size + 1, name, strlen(name) + 1);
    int rc = place->session->zh ? zoo_aget(place->session->zh, path, 0, on_contents, survey) : ZINVALIDSTATE;
    ls_env_free(env_of(survey), path);
    survey->in_flight = rc == ZOK;
    if (rc != ZOK)
        end(survey, LS_EZK);
}

static int copy_names(struct lock_survey *survey, char *const *names, int count)
{
    survey->list = ls_env_alloc(env_of(survey), (size_t)(count ? count : 1) * sizeof survey->list[0]);
    if (!survey->list)
        return LS_ENOMEM;
    for (; survey->count < count; survey->count++) {
        size_t size = strlen(names[survey->count]) + 1;
        char *copy = ls_env_alloc(env_of(survey), size);
        if (!copy)
            return LS_ENOMEM;
        memcpy(copy, names[survey->count], size);
        survey->list[survey->count].name = copy;
        survey->list[survey->count].contents = copy + size - 1;
    }
    return LS_OK;
}

/* Takes the names of the contenders, sorted. The list is the client's, so a copy of its pointers is
 * sorted. */
static int take_names(struct lock_survey *survey, const struct String_vector *list)
{
    size_t size = (size_t)(list->count ? list->count : 1) * sizeof list->data[0];
    struct String_vector copy = {.count = list->count, .data = ls_env_alloc(env_of(survey), size)};
    if (!copy.data)
        return LS_ENOMEM;
    if (list->count)
        memcpy(copy.data, list->data, size);
    int rc = copy_names(survey, copy.data, lock_names_sort((enum lock_role)survey->place->role, &copy));
    ls_env_free(env_of(survey), copy.data);
    return rc;
}

static void on_names(int rc, const struct String_vector *list, const void *data)
{
    struct lock_survey *survey = enter(data);
    struct ls_session *session = survey->place->session;
    if (!survey->mutex) {
        discard(survey);
    } else if (rc == ZNONODE) {
        end(survey, LS_OK);
    } else if (rc != ZOK) {
        end(survey, error_of(survey, rc));
    } else {
        int err = take_names(survey, list);
        if (err)
            end(survey, err);
        else
            read_next(survey);
    }
    lock_mutex_leave(session);
}

bool lock_participants_read(void (*completion)(void))
{
    return completion == (void (*)(void))on_names;
}

int lock_participants_start(struct ls_mutex *mutex, void *user, struct lock_call *call,
                            struct ls_participants *out)
{
    struct ls_session *session = mutex->session;
    if (mutex->closing || lock_semaphore_is_closing(mutex) || !lock_session_ready(session))
        return LS_ECLOSED;
    struct lock_survey *survey = ls_env_alloc(session->env, sizeof *survey);
    if (!survey)
        return LS_ENOMEM;
    survey->place = mutex->place;
    survey->place->users++;
    survey->mutex = mutex;
    survey->user = user;
    survey->call = call;
    survey->out = out;
    int rc = zoo_aget_children(session->zh, mutex->place->path, 0, on_names, survey);
    survey->in_flight = rc == ZOK;
    if (rc != ZOK) {
        free_survey(survey);
        return LS_EZK;
    }
    struct lock_survey **link = &session->surveys;
    while (*link)
        link = &(*link)->next;
    *link = survey;
    return LS_OK;
}

int ls_mutex_participants_start(struct ls_mutex *mutex, void *user)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    int rc = lock_participants_start(mutex, user, NULL, NULL);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return rc;
}

void lock_participants_drained(struct ls_session *session)
{
    struct lock_survey *next;
    for (struct lock_survey *survey = session->surveys; survey; survey = next) {
        next = survey->next;
        survey->in_flight = false;
        if (!survey->mutex)
            discard(survey);
        else if (!survey->done)
            end(survey, session->state == LS_STATE_CLOSED ? LS_ECLOSED : LS_EZK);
    }
}

void lock_participants_end(struct ls_mutex *mutex)
{
    struct lock_survey *next;
    for (struct lock_survey *survey = mutex->session->surveys; survey; survey = next) {
        next = survey->next;
        if (survey->mutex == mutex && !survey->done)
            end(survey, LS_ECLOSED);
    }
}

void lock_participants_canon(const struct ls_session *session, struct ls_rename *rename)
{
    for (const struct lock_survey *survey = session->surveys; survey; survey = survey->next)
        for (int i = 0; i < survey->count; i++)
            rename->text(rename, survey->list[i].name);
}

bool lock_participants_deliver(struct ls_session *session)
{
    struct lock_survey *survey = session->surveys;
    while (survey && !(survey->done && survey->mutex))
        survey = survey->next;
    if (!survey)
        return false;
    struct ls_mutex *mutex = survey->mutex;
    void *user = survey->user;
    int rc = survey->rc;
    const struct ls_participant *list = rc ? NULL : survey->list;
    int count = rc ? 0 : survey->count;
    const struct ls_mutex_options *options = lock_queue_deref(mutex->options);
    bool complete = !survey->in_flight;
    survey->mutex = NULL;
    if (complete)
        take_off(survey); /* otherwise the survey's completion does that, perhaps while the callback runs */
    ls_env_unlock(session->env);
    if (options && options->ops && options->ops->on_participants)
        options->ops->on_participants(mutex, user, rc, list, count);
    ls_env_lock(session->env);
    if (complete)
        free_survey(survey);
    return true;
}
