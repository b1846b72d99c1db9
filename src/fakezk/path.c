/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Paths as the client library sees them: put behind the chroot, and checked. */
#include "fakezk/internal.h"

#include <string.h>

static bool valid_dots(const char *path, size_t at, size_t size, bool sequence)
{
    bool ends = at + 1 == size && !sequence;
    if (path[at - 1] == '/') {
        return !ends && path[at + 1] != '/';
    }
    if (path[at - 1] == '.' && path[at - 2] == '/') {
        return !ends && path[at + 1] != '/';
    }
    return true;
}

enum { PATH_BAD = 1, PATH_DOTS = 2, PATH_ODD = 4 };

/* The number of bytes that look_at_lanes() looks at, in a loop that compilers can turn into vector code. */
enum { LANES = 16 };

struct lanes {
    unsigned char kinds[LANES];
};

static inline void look_at_lanes(const unsigned char *at, struct lanes *seen)
{
    for (int i = 0; i < LANES; i++) {
        bool bad = (at[i] < 0x1f) | ((at[i] == '/') & (at[i - 1] == '/'));
        bool odd = (at[i] == 0x1f) | (at[i] >= 0x7f);
        seen->kinds[i] |=
            (unsigned char)((bad ? PATH_BAD : 0) | (at[i] == '.' ? PATH_DOTS : 0) | (odd ? PATH_ODD : 0));
    }
}

/* Returns the PATH_… bits of all bytes behind the first one. The last group of LANES bytes may overlap the
 * one before, which adds no bit. */
static unsigned path_kinds(const char *path, size_t size)
{
    struct lanes seen = {{0}};
    const unsigned char *at = (const unsigned char *)path;
    unsigned char padded[1 + LANES];
    if (size < sizeof padded) {
        memset(padded, 'a', sizeof padded);
        memcpy(padded, path, size);
        at = padded;
        size = sizeof padded;
    }
    for (size_t i = 1; i + LANES <= size; i += LANES) {
        look_at_lanes(at + i, &seen);
    }
    look_at_lanes(at + size - LANES, &seen);
    unsigned kinds = 0;
    for (int i = 0; i < LANES; i++) {
        kinds |= seen.kinds[i];
    }
    return kinds;
}

static bool kinds_valid(const char *path, size_t size, unsigned kinds, bool sequence)
{
    if (size == 0 || path[0] != '/' || (kinds & PATH_BAD) != 0) {
        return false;
    }
    if (size > 1 && path[size - 1] == '/' && !sequence) {
        return false;
    }
    for (size_t i = 1; (kinds & PATH_DOTS) != 0 && i < size; i++) {
        if (path[i] == '.' && !valid_dots(path, i, size, sequence)) {
            return false;
        }
    }
    return true;
}

bool path_valid(const char *path, bool sequence)
{
    size_t size = path != NULL ? strlen(path) : 0;
    return kinds_valid(path, size, path_kinds(path, size), sequence);
}

void path_make_whole(const struct _zhandle *zh, const char *path, bool sequence, struct whole_path *out)
{
    const char *root = fakezk.chroot[zh->chroot];
    size_t root_size = zh->chroot != 0 ? strlen(root) : 0;
    out->valid = false;
    out->size = 0;
    if (path == NULL) {
        return;
    }
    bool is_root = root_size > 0 && path[0] == '/' && path[1] == 0;
    size_t size = is_root ? 0 : strlen(path);
    if (root_size + size >= FAKEZK_PATH_MAX) {
        fakezk_note_trouble("limit: a path is longer than %d bytes", FAKEZK_PATH_MAX - 1);
        return;
    }
    memcpy(out->text, root, root_size);
    memcpy(out->text + root_size, path, size);
    out->size = root_size + size;
    out->text[out->size] = 0;
    unsigned kinds = path_kinds(out->text, out->size);
    out->valid = kinds_valid(out->text, out->size, kinds, sequence);
    out->odd = (kinds & PATH_ODD) != 0;
}
