/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z44: believes that its session lives as long as no event reports its end.
 *
 * Source: https://github.com/ClickHouse/ClickHouse/issues/116690.
 *
 * A client that comes back offers the id of its session. A server that does not know the session any more
 * has to say so, and the client library reports that the session has expired. ClickHouse Keeper opened a new
 * session in place of the old one, and said nothing. All nodes and watches are gone, and a client library
 * that does not compare the two ids reports a reconnection. A recipe that trusts it still believes that it
 * holds its lock.
 *
 * FIXED compares the ids itself, and takes another id for the end of its session.
 *
 * Caught by every_loss_is_told, in a world whose servers do that (defects=silent-session). */
#include "skeleton/known_by_number.h"

#ifdef FIXED
#define TRUSTS_THE_LIBRARY false
#else
#define TRUSTS_THE_LIBRARY true
#endif

static const struct variation variation = {.trusts_the_library = TRUSTS_THE_LIBRARY};

CANARY(.name = "trusts-the-client-library",
       .summary = "believes that its session lives as long as nobody says that it has ended",
       .breaks = "every_loss_is_told");
