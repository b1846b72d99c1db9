# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The page of a journal lets a worker believe that has noted that it does not.
GROUP=cli
FILE=src/report/journal_page.c
EDIT='s/worker->inside && !worker->doubts/worker->inside/'
EXPECT='^cli\.report$'
