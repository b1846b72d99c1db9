# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The page draws messages that are still under way as if they had arrived.
GROUP=report
FILE=src/report/page/model.js
EDIT='s/kind \+ " late open", text/kind, text/'
EXPECT='^report\.marks$'
