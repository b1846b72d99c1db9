/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Trace files: whatever the bytes, reading them ends with a trace or one line of complaint; what was read, written, read and
 * written again is the same. */
#include "target.h"
#include "trace/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long inputs, traces;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

static char *print(const struct trace *trace, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    if (file == NULL || trace_write(file, trace) != 0 || fclose(file) != 0) {
        abort();
    }
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace first, second;
    struct input_error error;
    size_t first_size, second_size;
    inputs++;
    if (trace_read_bytes(&first, "input", (const char *)data, size, &error) != 0) {
        if (error.text[0] == 0 || strchr(error.text, '\n') != NULL) {
            abort();
        }
        return 0;
    }
    traces++;
    char *once = print(&first, &first_size);
    if (trace_read_bytes(&second, "printed", once, first_size, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    char *twice = print(&second, &second_size);
    if (first_size != second_size || memcmp(once, twice, first_size) != 0) {
        abort();
    }
    free(once);
    free(twice);
    trace_close(&first);
    trace_close(&second);
    return 0;
}

void target_tell(void)
{
    fprintf(stderr, "%lu inputs, %lu of them traces\n", inputs, traces);
}
