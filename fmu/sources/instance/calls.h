/* Checks that all FMI functions perform first: whether the call is permitted in the current mode, and whether its
   arguments are valid. A failed check returns false and stores a message in the model. */

#ifndef CALLS_H
#define CALLS_H

#include "model.h"

#include <stddef.h>

/* Stores the name of the function for messages. modes: bits of Mode. Returns false without a message if there is no
   instance. */
bool call_allowed(Model *model, const char *function, unsigned modes);

/* `name`: name of the argument. */
bool expect_pointer(Model *model, const char *name, const void *pointer);
bool expect_array(Model *model, const char *name, const void *pointer, size_t n); /* may be NULL if n is 0 */
bool expect_size(Model *model, const char *name, const void *pointer, size_t n, int expected);
bool expect_none(Model *model, size_t n); /* for value references of a type that no variable has */
bool expect_first_order(Model *model, int order); /* for the order of a derivative */
bool expect_token(Model *model, const char *token);
bool expect_name(Model *model, const char *instance_name); /* may be NULL */

/* Size of "function: message" of the last failure; characters with a meaning to the importer's logger are doubled,
   which makes the logger print them literally. */
enum { DESCRIPTION_SIZE = 4 * MESSAGE_SIZE };
void describe_failure(const Model *model, const char *doubled, char text[DESCRIPTION_SIZE]);

#endif
