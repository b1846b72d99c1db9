/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/code_ref.h"

#include "base/assert.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define MODULES_MAX 15
#define OFFSET_BITS 28
#define OFFSET_MAX ((uintptr_t)1 << OFFSET_BITS)

static uintptr_t module_base[MODULES_MAX];
static int modules;

static uintptr_t base_of(const void *address)
{
    Dl_info info;
    LS_ASSERT(dladdr(address, &info) != 0);
    return (uintptr_t)info.dli_fbase;
}

static code_ref make(int module, uintptr_t offset)
{
    LS_ASSERT(module < modules && offset < OFFSET_MAX);
    return (uint32_t)(module + 1) << OFFSET_BITS | (uint32_t)offset;
}

/* Modules get numbers in the order in which code_pack() first sees them. An address less than OFFSET_MAX
 * bytes behind the base of a known module counts as an address of that module; of several, the first
 * counts. */
code_ref code_pack(const void *address)
{
    if (address == NULL) {
        return 0;
    }
    uintptr_t a = (uintptr_t)address;
    for (int i = 0; i < modules; i++) {
        if (a - module_base[i] < OFFSET_MAX) {
            return make(i, a - module_base[i]);
        }
    }
    LS_ASSERT(modules < MODULES_MAX);
    module_base[modules] = base_of(address);
    LS_ASSERT(a - module_base[modules] < OFFSET_MAX);
    modules++;
    return make(modules - 1, a - module_base[modules - 1]);
}

const void *code_unpack(code_ref ref)
{
    if (ref == 0) {
        return NULL;
    }
    LS_ASSERT(ref >> OFFSET_BITS != 0 && (int)(ref >> OFFSET_BITS) <= modules);
    return (const void *)(module_base[(ref >> OFFSET_BITS) - 1] + (ref & (OFFSET_MAX - 1)));
}

code_ref code_pack_fn(code_fn fn)
{
    const void *address;
    memcpy(&address, &fn, sizeof address);
    return code_pack(address);
}

code_fn code_unpack_fn(code_ref ref)
{
    const void *address = code_unpack(ref);
    code_fn fn;
    memcpy(&fn, &address, sizeof fn);
    return fn;
}
