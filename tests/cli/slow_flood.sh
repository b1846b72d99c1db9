#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A one-line bug does not flood: who watches the farthest predecessor, and who leaves a watch behind. closing.sh has one more.
source "$(dirname "$0")/lib.sh"
does_not_flood broken-watches-first
does_not_flood broken-keeps-watch
finish
