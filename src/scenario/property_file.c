/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Opens shared objects with properties, and never closes them. */
#include "scenario/property_file.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/shared_object_path.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

struct opened {
    struct ls_property property;
    struct property_file file;
    char path[SHARED_PATH_MAX + 1];
};

static struct opened opened[LS_PROPERTY_MODULES_MAX];
static int opened_count;

/* Finds the object that was mapped at `base`. */
struct search {
    ElfW(Addr) base;
    struct property_file *file;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
    const struct search *search = ctx;
    (void)size;
    if (info->dlpi_addr != search->base) {
        return 0;
    }
    LS_ASSERT(search->file->count == 0);
    for (int i = 0; i < info->dlpi_phnum && search->file->count < PROPERTY_VARIABLES_MAX; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0) {
            void *at = (void *)(info->dlpi_addr + part->p_vaddr); /* NOLINT(performance-no-int-to-ptr) */
            search->file->variables[search->file->count++] =
                (struct property_variables){at, (size_t)part->p_memsz};
        }
    }
    return 1;
}

static void find_variables(void *handle, struct property_file *file)
{
    struct link_map *map;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
        struct search search = {map->l_addr, file};
        dl_iterate_phdr(look_at, &search);
    }
}

static const struct ls_property *take(const char *path, void *handle, char *why, size_t room)
{
    const struct ls_property_module *module = dlsym(handle, "ls_property_module");
    if (module == NULL) {
        snprintf(why, room, "it does not export a property (LS_PROPERTY_MODULE of <lockstep/property.h>)");
        return NULL;
    }
    if (module->interface != LS_PROPERTY_INTERFACE || module->property == NULL) {
        snprintf(why, room, "it was compiled for interface %u, this program has %d", module->interface,
                 LS_PROPERTY_INTERFACE);
        return NULL;
    }
    LS_ASSERT(opened_count < LS_PROPERTY_MODULES_MAX && strlen(path) <= SHARED_PATH_MAX);
    struct opened *next = &opened[opened_count++];
    size_t size =
        module->property_size < sizeof next->property ? module->property_size : sizeof next->property;
    memcpy(&next->property, module->property, size);
    strcpy(next->path, path);
    next->file.content = file_hash(path);
    find_variables(handle, &next->file);
    return &next->property;
}

static const struct ls_property *load(const char *path, char *why, size_t room)
{
    char file[SHARED_PATH_MAX + 3];
    if (!shared_file(path, file, why, room)) {
        return NULL;
    }
    if (opened_count == LS_PROPERTY_MODULES_MAX) {
        snprintf(why, room, "%d shared objects with properties are the most", LS_PROPERTY_MODULES_MAX);
        return NULL;
    }
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(why, room, "%s", dlerror());
        return NULL;
    }
    return take(path, handle, why, room);
}

const struct ls_property *property_open(const char *path, struct property_file *file, char *why, size_t size)
{
    const struct ls_property *property = NULL;
    for (int i = 0; i < opened_count && property == NULL; i++) {
        property = strcmp(opened[i].path, path) == 0 ? &opened[i].property : NULL;
    }
    if (property == NULL) {
        property = load(path, why, size);
    }
    if (property != NULL) {
        *file = ((const struct opened *)(const void *)property)->file;
    }
    return property;
}
