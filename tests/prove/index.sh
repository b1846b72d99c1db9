# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The index writes names as markup. The browser makes elements of a scenario's name.
GROUP=report
FILE=src/report/html.c
EDIT="s/code == '<' +\? \"&lt;\"/code == 0 ? \"\&lt;\"/"
EXPECT='^(report\.index|cli\.html)$'
