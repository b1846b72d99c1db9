#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A new directory counts from 0 on again. A recipe that remembers a number of the old one meets it after some creates, and states in
# which it meets it after another number of creates are other states (docs/design/renaming.md).
source "$(dirname "$0")/../cli/lib.sh"
plain_build_only
cc -std=c11 -w -fPIC -shared -Iinclude -o "$scratch/next_in_line.so" examples/recipes/next_in_line.c
expect 0 '(9416 states, 19894 transitions' "$LOCKSTEP" check --recipe "$scratch/next_in_line.so" scenarios/suite/directory_swept.scn
finish
