/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Text from outside in an HTML page. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Writes a text as the content of an element, or of an attribute in double quotes.
 *   - Markup characters become references.
 *   - Bytes that are no UTF-8 appear as \xNN.
 *   - Control characters but the line end, marks of text direction, and some characters without a width
 *     appear as \u{NN}. */
void html_text(FILE *out, const char *text);

/* Writes `page`, with the output of part() in place of each @NAME@. */
typedef void (*html_part_fn)(FILE *out, const char *name, size_t size, const void *ctx);
void html_fill(FILE *out, const char *page, html_part_fn part, const void *ctx);

#endif
