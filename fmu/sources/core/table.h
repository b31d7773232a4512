/* The table of variables, names for messages, and what numbers may be. */

#ifndef TABLE_H
#define TABLE_H

#include "model.h"

/* By value reference. */
const Variable *variable_find(Model *model, unsigned reference, bool integer); /* NULL, with a message: none of the type */
const Variable *variable_find_real(Model *model, unsigned reference);
int variable_elements(Model *model, unsigned reference, bool integer); /* of an array; 0: no such variable */

int variable_offset(const Variable *variable); /* of a real that is in the workspace */
const char *variable_name(VariableKind kind, int index);

/* Whether a number is within bounds; else a message that begins with `what`. bounds: NULL for any number. */
bool bounds_hold(Model *model, const char *what, double value, const Bounds *bounds);
bool requirements_hold(Model *model); /* where PREPARE has been run */

#endif
