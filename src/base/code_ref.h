/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Pointers to code and constants as (module, offset). Images and fingerprints must not depend on the address
 * at which the loader put a program (D3b). */
#ifndef BASE_CODE_REF_H
#define BASE_CODE_REF_H

#include <stdint.h>

/* 0 = NULL. Otherwise the upper 4 bits are the module's number from 1, the lower 28 bits are the offset. */
typedef uint32_t code_ref;

typedef void (*code_fn)(void);

code_ref code_pack(const void *address);
const void *code_unpack(code_ref ref);

code_ref code_pack_fn(code_fn fn);
code_fn code_unpack_fn(code_ref ref);

#endif
