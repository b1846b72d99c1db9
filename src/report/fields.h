/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Fields of the JSON objects of a run. Each function returns false if memory is short. */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

static inline bool add_number(cJSON *object, const char *name, double number)
{
    return cJSON_AddNumberToObject(object, name, number) != NULL;
}

static inline bool add_string(cJSON *object, const char *name, const char *text)
{
    return cJSON_AddStringToObject(object, name, text) != NULL;
}

/* Adds an item, which the list owns then. Returns false if the item or the list is NULL, which they are if
 * memory was short. */
static inline bool add_item(cJSON *list, cJSON *item)
{
    return list != NULL && item != NULL && cJSON_AddItemToArray(list, item);
}

#endif
