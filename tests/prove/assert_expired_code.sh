# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Requests of an expired session fail as if the link was lost. queue_failure() asserts the code of each state.
GROUP=fakezk
FILE=src/fakezk/link.c
EDIT='s/link_fail_requests\(client, slot, ZSESSIONEXPIRED\);/link_fail_requests(client, slot, ZCONNECTIONLOSS);/'
EXPECT='^fakezk\.session$'
