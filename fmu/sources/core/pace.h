/* Step-size limits over time, so that no inner step misses a change in a lookup table or an expression of time. */

#ifndef PACE_H
#define PACE_H

#include "model.h"

double pace_end(const Model *model, double time); /* latest end of a step that begins at `time`, s; INFINITY: no limit */

/* Next time at which a change begins that a solver may miss after an interval at rest, s; INFINITY: never. The
   importer receives this time as a time event without any change of the model. */
double pace_next_mark(const Model *model, double time);

#endif
