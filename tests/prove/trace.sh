# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A trace of another format version is read.
GROUP=trace
FILE=src/trace/file.c
EDIT='s/if \(read_format\(r\) != 0 \|\| /if (read_format(r) == 12345 || /'
EXPECT='^trace\.'
