/* Check that the length of a force element does not pass through zero, where the direction of its force is undefined. */

#ifndef ZERO_LENGTH_H
#define ZERO_LENGTH_H

#include "model.h"

/* Size of model->lengths, doubles. */
size_t zero_length_scratch(void);

/* Discards the begin of the next step: before a new run, after a change of states, and after a discontinuity of
   forces. */
void zero_length_forget(Model *model);

/* Stores the begin of a step, unless it is known. */
bool zero_length_begin(Model *model);

/* Examines an accepted step. Fails if the end points of a force element meet at its end or within. */
bool lines_have_length(Model *model);

#endif
