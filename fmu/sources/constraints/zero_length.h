/* Whether the length of a line passes through zero, where its force has no direction. */

#ifndef ZERO_LENGTH_H
#define ZERO_LENGTH_H

#include "model.h"

/* Numbers in model->lengths. */
size_t zero_length_scratch(void);

/* Forgets the begin of the next step: a new run, other states, or forces that jump. */
void zero_length_forget(Model *model);

/* Before a step: notes its begin, unless that is known. */
bool zero_length_begin(Model *model);

/* After an accepted step. Fails if the ends of a line meet at its end or within. */
bool lines_have_length(Model *model);

#endif
