#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What broken.sh asks of five broken recipes, asked of all. Under sanitizers a run of all scenarios takes ten times as long.
[[ -z ${LOCKSTEP_SANITIZE:-} ]] || exit 77
every_recipe=yes
source "${BASH_SOURCE[0]%/*}/broken.sh"
