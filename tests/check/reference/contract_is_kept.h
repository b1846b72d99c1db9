/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_CONTRACT_IS_KEPT_H
#define TESTS_CHECK_REFERENCE_CONTRACT_IS_KEPT_H

#include "check/reference/questions.h"

static bool breaks_its_contract(const struct trace_list *list, int i)
{
    return list->event[i].kind == EVENT_MISBEHAVED;
}

#endif
