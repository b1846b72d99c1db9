/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include <lockstep/version.h>

const char *ls_version(void)
{
    return LOCKSTEP_VERSION;
}
