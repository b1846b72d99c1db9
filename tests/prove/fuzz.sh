# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A fuzzed run ends without a look at the world at rest: lost wake-ups and orphans are not seen.
GROUP=fuzz
FILE=src/fuzz/drive.c
EDIT='s/^        run_rest\(&driver->run\);$//'
EXPECT='^fuzz\.targets$'
