/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Errors of memory around a recipe that makes none, examples/recipes/next_in_line.c: BUG says which one is in, and with FIXED the
 * same lines are right. Each has been in some lock library; none of them changes what the lock does, on most days.
 *
 *    1  a note is written behind the state
 *    2  the zero of a text has no room in its block
 *    3  a block is written to after it was freed
 *    4  a flag is read in a block that was freed
 *    5  a flag is read that nobody has set
 *    6  a list of names is looked at after its callback was over
 *    7  a block of each acquire is never freed
 *    8  memory is taken from the environment without its mutex */
#include <lockstep/recipe.h>
#include <zookeeper/zookeeper.h>

#undef LS_RECIPE_MODULE
#define LS_RECIPE_MODULE(unused)
#define zoo_aget_children(zh, path, watch, completion, ctx) zoo_aget_children(zh, path, watch, on_names, ctx)

static void on_names(int rc, const struct String_vector *names, const void *ctx);

/* The errors are meant. NOLINTBEGIN */
#include "../../../examples/recipes/next_in_line.c"

#ifdef FIXED
enum { WRONG = false };
#else
enum { WRONG = true };
#endif

struct careless {
    struct recipe recipe; /* first: what finds it finds this */
    char *text;
    const struct String_vector *names;
};

/* ---- one mistake each; `text` is what an acquire has for itself ---- */

static void write_note(struct careless *careless)
{
    volatile char *end = (volatile char *)(careless + 1);
    end[WRONG ? 0 : -1] = 0;
}

static void copy_text(struct careless *careless)
{
    static const char TEXT[] = "next";
    careless->text = malloc(sizeof TEXT - (WRONG ? 1 : 0));
    if (careless->text != NULL) {
        strcpy(careless->text, TEXT);
    }
}

static void write_late(struct careless *careless)
{
    volatile char *text = careless->text = malloc(8);
    if (text == NULL) {
        return;
    }
    if (WRONG) {
        free(careless->text);
        careless->text = NULL;
    }
    text[0] = 1;
}

/* Whether to give up at once. */
static bool read_late(struct careless *careless)
{
    volatile char *text = careless->text = malloc(8);
    if (text == NULL) {
        return false;
    }
    text[0] = 1;
    if (WRONG) {
        free(careless->text);
        careless->text = NULL;
    }
    return text[0] == 0;
}

static bool read_unset(struct careless *careless)
{
    volatile char *text = careless->text = malloc(8);
    if (text == NULL) {
        return false;
    }
    if (!WRONG) {
        text[0] = 1;
    }
    return text[0] == 0;
}

static void forget_block(struct careless *careless)
{
    char *volatile text = malloc(8);
    if (!WRONG) {
        free(text);
    }
    (void)careless;
}

static void take_memory(struct careless *careless)
{
    struct ls_env *env = careless->recipe.env;
    if (!WRONG) {
        ls_env_lock(env);
    }
    ls_env_free(env, ls_env_alloc(env, 8));
    if (!WRONG) {
        ls_env_unlock(env);
    }
}

/* ---- the recipe around it ---- */

static void on_names(int rc, const struct String_vector *names, const void *ctx)
{
    struct careless *careless = (struct careless *)((const struct claim *)ctx)->recipe;
    if (BUG == 6) {
        careless->names = WRONG ? names : NULL;
    }
    on_list(rc, names, ctx);
}

static void drop_text(struct careless *careless)
{
    free(careless->text);
    careless->text = NULL;
}

static int acquire_carelessly(void *state, int lock, int owner, int timeout_ms)
{
    struct careless *careless = state;
    bool gives_up = false;
    drop_text(careless);
    switch (BUG) {
    case 1:
        write_note(careless);
        break;
    case 2:
        copy_text(careless);
        break;
    case 3:
        write_late(careless);
        break;
    case 4:
        gives_up = read_late(careless);
        break;
    case 5:
        gives_up = read_unset(careless);
        break;
    case 7:
        forget_block(careless);
        break;
    case 8:
        take_memory(careless);
        break;
    default:
        break;
    }
    return gives_up ? LS_EBUSY : acquire(state, lock, owner, timeout_ms);
}

static int release_carelessly(void *state, int lock, int owner)
{
    struct careless *careless = state;
    if (careless->names != NULL && careless->names->count > 100) {
        return LS_EZK;
    }
    drop_text(careless);
    return release(state, lock, owner);
}

static void stop_carelessly(void *state)
{
    drop_text(state);
    stop(state);
    memset(state, 0, sizeof(struct careless));
}

static const struct ls_recipe careless = {
    .name = "careless",
    .summary = "a correct recipe with an error of memory",
    .breaks = "contract_is_kept",
    .state_size = sizeof(struct careless),
    .start = start,
    .stop = stop_carelessly,
    .acquire = acquire_carelessly,
    .cancel = cancel,
    .release = release_carelessly,
    .query = query,
    .idle = idle,
    .reentrant = true,
    .canon = canon,
};

LS_RECIPE_EXPORT_ extern const struct ls_recipe_module ls_recipe_module;
LS_RECIPE_EXPORT_ const struct ls_recipe_module ls_recipe_module = {LS_RECIPE_INTERFACE,
                                                                    sizeof(struct ls_recipe), &careless};
/* NOLINTEND */
