# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A message is sent to a connection that has ended. connection_of() asserts that there is such a connection.
GROUP=fakeredis
FILE=src/fakeredis/link.c
EDIT='s/if \(part->connection == CONNECTION_NONE\) \{/if (false) {/'
EXPECT='^fakeredis\.apart$'
