/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The page of a run, made step by step. The objects are those of docs/cli.md ("replay --json"). They come
 * from a replay (page.c), or from a journal (journal_page.c). */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct cJSON;
struct page;

/* Begins a page. `again` is the command that makes the run again; it must outlive the page. Returns NULL if
 * memory is short. The caller closes the page. */
struct page *page_open(const char *again);
void page_close(struct page *page);

/* Add the object about the whole run, the object of each step in order, and the object about the end. The
 * page owns the objects. NULL says that memory was too short for an object. */
void page_head(struct page *page, struct cJSON *head);
void page_step(struct page *page, struct cJSON *step);
void page_end(struct page *page, struct cJSON *end);

/* Adds the cause of the violation. `behind` must outlive the page. */
void page_cause(struct page *page, const char *text, struct cJSON *behind);

/* Writes the page. Returns false, and writes nothing, if memory was short at any time. */
bool page_write(struct page *page, FILE *out);

#endif
