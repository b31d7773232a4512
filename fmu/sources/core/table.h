/* The table of variables, and names for messages. */

#ifndef TABLE_H
#define TABLE_H

#include "model.h"

/* By value reference. */
const Variable *variable_find(Model *model, unsigned reference, bool integer); /* NULL, with a message: none of the type */
const Variable *variable_find_real(Model *model, unsigned reference);
int variable_elements(Model *model, unsigned reference, bool integer); /* of an array; 0: no such variable */

int variable_offset(const Variable *variable); /* of a real that is in the workspace */
const char *variable_name(VariableKind kind, int index);

#endif
