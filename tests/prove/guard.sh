# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A guarded write that had no answer is not sent again.
GROUP=sim
FILE=src/coordzk/guarded_write.c
EDIT='s/rc == ZCONNECTIONLOSS \|\| //'
EXPECT='^sim\.schedule$'
