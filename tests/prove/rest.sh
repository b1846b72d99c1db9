# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What is not idle is not judged at rest, though nothing will ever happen to it.
GROUP=canary
FILE=src/sim/default_schedule.c
EDIT='s/\(the_world.coordinator->linked\(p\) && !timers_of_work\(p\)\)/(the_world.coordinator->linked(p) \&\& !timers_of_work(p) \&\& (the_world.options.recipe->idle == NULL || the_world.options.recipe->idle(process_state(p))))/'
EXPECT='^canary\.unlisted$'
