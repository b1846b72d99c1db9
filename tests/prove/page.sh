# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The page keeps lines of an older state. The browser shows another state than the replay.
GROUP=report
FILE=src/report/page/model.js
EDIT='s/for \(const \[at, line\] of steps\[i\]\.changes\) lines\[at\] = run\.labels\[line\];/for (const [at, line] of steps[i].changes) lines[at] ??= run.labels[line];/'
EXPECT='^report\.page$'
