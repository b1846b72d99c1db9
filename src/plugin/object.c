/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "plugin/plugin.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct object {
    int file;
    Elf *elf;
};

static Elf_Scn *next_section(const struct object *object, Elf_Scn *before, unsigned type, GElf_Shdr *header)
{
    Elf_Scn *section = before;
    while ((section = elf_nextscn(object->elf, section)) != NULL) {
        if (gelf_getshdr(section, header) != NULL && header->sh_type == type) {
            return section;
        }
    }
    return NULL;
}

struct object *object_open(const char *path, char why[PLUGIN_WHY_MAX])
{
    GElf_Ehdr header;
    struct object *object = calloc(1, sizeof *object);
    if (object == NULL) {
        snprintf(why, PLUGIN_WHY_MAX, "out of memory");
        return NULL;
    }
    elf_version(EV_CURRENT);
    object->file = open(path, O_RDONLY | O_CLOEXEC);
    if (object->file < 0) {
        snprintf(why, PLUGIN_WHY_MAX, "%s", strerror(errno));
        free(object);
        return NULL;
    }
    object->elf = elf_begin(object->file, ELF_C_READ, NULL);
    if (object->elf == NULL || gelf_getehdr(object->elf, &header) == NULL || header.e_type != ET_DYN) {
        snprintf(why, PLUGIN_WHY_MAX, "it is no shared object (cc -shared -fPIC)");
        object_close(object);
        return NULL;
    }
    GElf_Shdr symbols;
    if (next_section(object, NULL, SHT_DYNSYM, &symbols) == NULL) { /* its imports could not be seen */
        snprintf(why, PLUGIN_WHY_MAX, "it has no table of sections (strip --strip-section-headers?)");
        object_close(object);
        return NULL;
    }
    return object;
}

void object_close(struct object *object)
{
    elf_end(object->elf);
    close(object->file);
    free(object);
}

/* Returns the name of the index-th symbol of a table; NULL behind the last. */
static const char *symbol_at(const struct object *object, Elf_Scn *section, const GElf_Shdr *header,
                             int index, GElf_Sym *symbol)
{
    Elf_Data *data = elf_getdata(section, NULL);
    LS_ASSERT(header->sh_type == SHT_DYNSYM || header->sh_type == SHT_SYMTAB);
    if (data == NULL || gelf_getsym(data, index, symbol) == NULL) {
        return NULL;
    }
    const char *name = elf_strptr(object->elf, header->sh_link, symbol->st_name);
    return name != NULL ? name : "";
}

const char *object_import(const struct object *object, int index)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = next_section(object, NULL, SHT_DYNSYM, &header);
    const char *name = "";
    LS_ASSERT(index >= 0);
    for (int i = 1; section != NULL && name != NULL; i++) {
        name = symbol_at(object, section, &header, i, &symbol);
        bool wanted =
            name != NULL && symbol.st_shndx == SHN_UNDEF && GELF_ST_BIND(symbol.st_info) != STB_LOCAL;
        if (wanted && index-- == 0) {
            return name;
        }
    }
    return NULL;
}

bool object_slot(const struct object *object, int index, uintptr_t *offset, const char **name)
{
    GElf_Shdr header, symbols;
    GElf_Sym symbol;
    GElf_Rela rela;
    LS_ASSERT(index >= 0);
    Elf_Scn *table = next_section(object, NULL, SHT_DYNSYM, &symbols);
    Elf_Scn *section = next_section(object, NULL, SHT_RELA, &header);
    for (; section != NULL && table != NULL; section = next_section(object, section, SHT_RELA, &header)) {
        Elf_Data *data = elf_getdata(section, NULL);
        int count = header.sh_entsize > 0 ? (int)(header.sh_size / header.sh_entsize) : 0;
        if (index >= count) {
            index -= count;
            continue;
        }
        if (data == NULL || gelf_getrela(data, index, &rela) == NULL) {
            return false;
        }
        const char *text = symbol_at(object, table, &symbols, (int)GELF_R_SYM(rela.r_info), &symbol);
        *offset = rela.r_offset;
        *name = text != NULL && symbol.st_shndx == SHN_UNDEF ? text : "";
        return true;
    }
    return false;
}

static bool is_within(const GElf_Phdr *part, const GElf_Phdr *whole)
{
    return part->p_vaddr >= whole->p_vaddr && part->p_vaddr < whole->p_vaddr + whole->p_memsz;
}

/* Finds the index-th loaded part with this permission. */
static bool loaded_part(const struct object *object, unsigned flag, int index, GElf_Phdr *header)
{
    size_t count = 0;
    LS_ASSERT(index >= 0 && (flag == PF_X || flag == PF_W));
    elf_getphdrnum(object->elf, &count);
    for (size_t i = 0; i < count; i++) {
        bool wanted = gelf_getphdr(object->elf, (int)i, header) != NULL && header->p_type == PT_LOAD &&
                      (header->p_flags & flag) != 0;
        if (wanted && index-- == 0) {
            return true;
        }
    }
    return false;
}

bool object_has_thread_variables(const struct object *object)
{
    size_t count = 0;
    GElf_Phdr header;
    bool found = false;
    elf_getphdrnum(object->elf, &count);
    for (size_t i = 0; i < count && !found; i++) {
        found = gelf_getphdr(object->elf, (int)i, &header) != NULL && header.p_type == PT_TLS;
    }
    return found;
}

bool object_code(const struct object *object, uintptr_t *offset, size_t *size)
{
    GElf_Phdr header;
    if (!loaded_part(object, PF_X, 0, &header)) {
        return false;
    }
    *offset = header.p_vaddr;
    *size = header.p_memsz;
    return true;
}

bool object_writable(const struct object *object, int index, uintptr_t *offset, size_t *size)
{
    size_t count = 0;
    GElf_Phdr header, other;
    if (!loaded_part(object, PF_W, index, &header)) {
        return false;
    }
    uintptr_t from = header.p_vaddr, end = header.p_vaddr + header.p_memsz;
    elf_getphdrnum(object->elf, &count);
    for (size_t i = 0; i < count; i++) { /* skips PT_GNU_RELRO, the first bytes: read-only after loading */
        bool shut = gelf_getphdr(object->elf, (int)i, &other) != NULL && other.p_type == PT_GNU_RELRO &&
                    is_within(&other, &header) && other.p_vaddr + other.p_memsz <= end;
        from = shut ? other.p_vaddr + other.p_memsz : from;
    }
    *offset = from;
    *size = end - from;
    return true;
}

/* Returns whether a range lies in one writable part. In a damaged file it may lie outside of the parts. */
static bool is_writable(const struct object *object, uintptr_t offset, size_t size)
{
    uintptr_t from;
    size_t room;
    for (int i = 0; object_writable(object, i, &from, &room); i++) {
        if (offset >= from && offset - from <= room && size <= room - (offset - from)) {
            return true;
        }
    }
    return false;
}

bool object_marks(const struct object *object, uintptr_t *offset, size_t *size)
{
    GElf_Shdr header;
    size_t names = 0;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(object->elf, &names) != 0) {
        return false;
    }
    while ((section = next_section(object, section, SHT_PROGBITS, &header)) != NULL) {
        const char *name = elf_strptr(object->elf, names, header.sh_name);
        if (name != NULL && strcmp(name, "ls_marks") == 0) {
            *offset = header.sh_addr;
            *size = header.sh_size / sizeof(struct ls_mark) * sizeof(struct ls_mark);
            return *offset % _Alignof(struct ls_mark) == 0 && is_writable(object, *offset, *size);
        }
    }
    return false;
}

static const char *symbol_in(const struct object *object, unsigned type, uintptr_t offset)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = next_section(object, NULL, type, &header);
    const char *name = "";
    for (int i = 1; section != NULL && name != NULL; i++) {
        name = symbol_at(object, section, &header, i, &symbol);
        bool known = name != NULL && name[0] != 0 && symbol.st_shndx != SHN_UNDEF && symbol.st_size > 0;
        if (known && offset >= symbol.st_value && offset < symbol.st_value + symbol.st_size) {
            return name;
        }
    }
    return NULL;
}

const char *object_symbol(const struct object *object, uintptr_t offset)
{
    const char *name = symbol_in(object, SHT_SYMTAB, offset);
    return name != NULL ? name : symbol_in(object, SHT_DYNSYM, offset);
}
