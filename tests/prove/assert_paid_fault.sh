# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Without a limit over all kinds, faults cost nothing. action_pay() asserts that the budget is smaller.
GROUP=explore
FILE=src/sim/actions.c
EDIT='s/^    state->budget\[fault\]--;$/    state->budget[fault] = (uint8_t)(state->budget[fault] - (state->budget_total != 255));/'
EXPECT='^explore\.orders$'
