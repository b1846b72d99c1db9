# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What `lockstep run --verbose` says of the traces that it writes; for the tests and for ./dev test --full.

# trace_of PROPERTY OUTPUT: the trace of the first scenario that this output of a run says to violate the property; with
# `not-judged`, which is no property, of the first that fails.
trace_of()
{
    awk -v property="$1" '
        /^FAIL  / { meant = property == "not-judged" }
        $1 == "violated" && $2 == property { meant = 1 }
        /^replay: / && meant && !found { found = $0; sub(/^replay: .* replay /, "", found) }
        END { print found }
    ' "$2"
}
