/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/without.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char WORD_ENDS[] = " \t\r\n:#";
static const char BLANKS[] = " \t";

/* What is to be cut out of the text. */
struct part {
    size_t start, end;
};

/* The names of a line stand between the word `process` and the colon, the end of the line or a comment. Returns
 * whether this one is among them. */
static bool find_in_line(const char *text, size_t line, const char *name, struct part *part)
{
    static const char WORD[] = "process";
    size_t at = line + strspn(text + line, BLANKS), length = strlen(name);
    int others = 0;
    bool found = false;
    if (strncmp(text + at, WORD, sizeof WORD - 1) != 0 || !strchr(BLANKS, text[at + sizeof WORD - 1])) {
        return false;
    }
    at += sizeof WORD - 1;
    for (;;) {
        size_t blanks = at;
        at += strspn(text + at, BLANKS);
        size_t word = strcspn(text + at, WORD_ENDS);
        if (word == 0) {
            break;
        }
        if (word == length && memcmp(text + at, name, length) == 0) {
            *part = (struct part){blanks, at + word};
            found = true;
        } else {
            others += !(word == 6 && memcmp(text + at, "asleep", 6) == 0);
        }
        at += word;
    }
    if (found && others == 0) {
        size_t end = line + strcspn(text + line, "\n");
        *part = (struct part){line, end + (text[end] == '\n')};
    }
    return found;
}

char *without_process(const char *text, size_t size, const char *name, size_t *out_size)
{
    struct part part;
    for (size_t line = 0; line < size; line += strcspn(text + line, "\n") + 1) {
        if (find_in_line(text, line, name, &part)) {
            char *out = malloc(size - (part.end - part.start) + 1);
            if (out) {
                memcpy(out, text, part.start);
                memcpy(out + part.start, text + part.end, size - part.end);
                *out_size = size - (part.end - part.start);
                out[*out_size] = 0;
            }
            return out;
        }
    }
    return NULL;
}
