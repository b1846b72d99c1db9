/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The data of a contender node is taken for a string, and measured with strlen().
 * recipe.h says: contents_size is the number of bytes in contents, which need not end with a zero, and may hold some.
 * With binary contents (a packed address, say) the node's data ends at the first zero; with contents that end at
 * the end of their memory more is read and sent than the configuration names. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

#ifndef FIXED
int create(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    const char *contents = claim->recipe->config->contents;
    snprintf(path, sizeof path, "%s/" PREFIX, directory(claim));
    claim->number = 0;
    claim->named = false;
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, contents, contents != NULL ? (int)strlen(contents) : -1,
                        &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}
#endif
