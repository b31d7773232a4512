/* Table of variables: access, names for messages, and bounds. */

#ifndef TABLE_H
#define TABLE_H

#include "model.h"

/* Access by value reference. */
/* NULL and a message if no variable of the type exists */
const Variable *variable_find(Model *model, unsigned reference, bool integer);
const Variable *variable_find_real(Model *model, unsigned reference);
/* number of elements of an array; 0: no such variable */
int variable_elements(Model *model, unsigned reference, bool integer);

int variable_offset(const Variable *variable); /* offset of a real variable in the workspace */
const char *variable_name(VariableKind kind, int index);

/* Whether a number is within bounds; otherwise the message begins with `what`. bounds: NULL permits any number. */
bool bounds_hold(Model *model, const char *what, double value, const Bounds *bounds);
bool requirements_hold(Model *model); /* whether all requirements are met; PREPARE must have been evaluated */

#endif
