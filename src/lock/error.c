/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include <lockstep/error.h>

#define CASE(name, number, text)                                                                             \
    case name:                                                                                               \
        return text;

const char *ls_strerror(int err)
{
    switch (err) {
    case LS_OK:
        return "success";
        LS_ERR_LIST(CASE)
    default:
        return "unknown error";
    }
}

const char *ls_strwarning(int warning)
{
    switch (warning) {
    case LS_WARN_NONE:
        return "no warning";
        LS_WARN_LIST(CASE)
    default:
        return "unknown warning";
    }
}
