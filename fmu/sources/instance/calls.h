/* What the functions of every FMI version check before they do their work: whether the call comes at the right time,
   and whether its arguments are there. Each check returns false and leaves a message in the model if it fails. */

#ifndef CALLS_H
#define CALLS_H

#include "model.h"

#include <stddef.h>

/* Notes the function for messages. modes: bits of Mode. False, silently, if there is no instance. */
bool call_allowed(Model *model, const char *function, unsigned modes);

/* `name`: of the argument. */
bool expect_pointer(Model *model, const char *name, const void *pointer);
bool expect_array(Model *model, const char *name, const void *pointer, size_t n); /* n = 0: may be NULL */
bool expect_size(Model *model, const char *name, const void *pointer, size_t n, int expected);
bool expect_none(Model *model, size_t n); /* value references of a type that no variable has */
bool expect_first_order(Model *model, int order); /* of a derivative */
bool expect_token(Model *model, const char *token);
bool expect_name(Model *model, const char *instance_name); /* may be NULL */

/* "function: message" of the last failure; characters that have a meaning to the importer's logger are doubled: then
   they stand for themselves. */
enum { DESCRIPTION_SIZE = 4 * MESSAGE_SIZE };
void describe_failure(const Model *model, const char *doubled, char text[DESCRIPTION_SIZE]);

#endif
