/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/search.h"

#include "base/assert.h"
#include "explore/work_sharing.h"
#include "state/canon.h"

#define LOOK_EVERY 16384u /* transitions */

static bool is_over(struct search *search)
{
    search->violated = search->path_rests = run_violated(search->run);
    search->limit = search->violated ? NULL : run_trouble(search->run);
    return search->violated || search->limit != NULL;
}

bool search_moves(const struct action *actions, int count)
{
    LS_ASSERT(count >= 0 && count <= WORLD_ACTIONS_MAX);
    for (int i = 0; i < count; i++) {
        if (action_has(&actions[i], TRAIT_MOVES)) {
            return true;
        }
    }
    return false;
}

bool search_rest(struct search *search, uint64_t depth)
{
    LS_ASSERT(!search->violated);
    search->run->stats.step = search->run->steps = depth;
    return !world_rest(search->run->world) || !is_over(search);
}

static enum visited_answer add_whole(struct search *search, uint64_t fingerprint)
{
    static unsigned char state[1 << 20];
    size_t size = search->canon != NULL ? canon_bytes(search->canon, state, sizeof state)
                                        : world_bytes(search->run->world, state, sizeof state);
    return exact_add(search->exact, fingerprint, state, size);
}

static bool is_full(struct search *search, uint64_t states)
{
    bool full = search->options->states_max > 0 && states >= search->options->states_max;
    if (full) {
        search->limit = "the number of states reached its limit (see --max-states)";
    }
    return full;
}

enum visited_answer search_visit(struct search *search, uint64_t fingerprint)
{
    enum visited_answer answer =
        search->exact != NULL ? add_whole(search, fingerprint) : visited_add(search->visited, fingerprint);
    if (answer == VISITED_NEW) {
        search->counts->states++;
        return search->share == NULL && is_full(search, search->counts->states) ? VISITED_FULL : VISITED_NEW;
    }
    if (answer == VISITED_FULL) {
        search->limit = "the memory for states is full (see --max-memory)";
    }
    return answer;
}

size_t search_states_bytes(const struct search *search)
{
    return visited_bytes(search->visited) + (search->exact != NULL ? exact_bytes(search->exact) : 0);
}

static double seconds_since(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) + (double)(now.tv_nsec - since->tv_nsec) / 1e9;
}

bool search_limited(struct search *search)
{
    const struct explore_options *options = search->options;
    if (search->counts->transitions < search->look) {
        return false;
    }
    if (search->share != NULL &&
        (share_is_over(search->share) || is_full(search, visited_count(search->visited)))) {
        return true;
    }
    LS_ASSERT(search->counts->transitions >= search->look);
    search->look = search->counts->transitions + LOOK_EVERY;
    search->counts->memory_bytes = search_states_bytes(search) + search->counts->waiting_bytes;
    if (search->counts->memory_bytes > search->bytes_max) {
        search->limit = "the memory for states that wait is full (see --max-memory)";
    } else if (options->seconds_max > 0 && seconds_since(&search->since) >= options->seconds_max) {
        search->limit = "the time is over (see --max-time)";
    } else if (options->stop != NULL && *options->stop != 0) {
        search->limit = "interrupted";
    }
    return search->limit != NULL;
}

void search_merge_stats(struct check_stats *to, const struct check_stats *from)
{
    LS_ASSERT(to != from);
    to->limit = to->limit || from->limit;
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        to->finding[i].premises += from->finding[i].premises;
        if ((from->violated & ~to->violated) >> i & 1) {
            uint64_t premises = to->finding[i].premises;
            to->finding[i] = from->finding[i];
            to->finding[i].premises = premises;
            to->violated |= CHECK_BIT(i);
        }
    }
}

void search_keep_path(struct search *search, struct action *path, uint64_t length)
{
    LS_ASSERT(search->path == NULL && (path != NULL || length <= 1));
    search->path = path;
    search->path_length = length;
}
