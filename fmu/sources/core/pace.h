/* Longest inner steps over time: no step crosses what lookup tables and expressions of time do, however short it is. */

#ifndef PACE_H
#define PACE_H

#include "model.h"

double pace_end(const Model *model, double time); /* s, latest end of a step that begins then; INFINITY: any */

/* s, when next something begins that a solver which has adapted itself to rest may miss; INFINITY: never. Importers get
   it as a time event, at which nothing of the model changes. */
double pace_next_mark(const Model *model, double time);

#endif
