/* When, within a step of an inner solver, a relation changes. */

#ifndef EVENT_LOCATION_H
#define EVENT_LOCATION_H

#include "grazing.h"

/* After a step from `begin` to where the model stands, both under the same switches: goes back to just after the first
   change of a relation, if there is one. model->indicators are those at the begin. */
bool locate_event(Model *model, double begin, StepTo step_to, const void *step);

/* Notes the indicators where the model stands, from where the next step begins, and whether an event is due there. */
bool note_indicators(Model *model);

#endif
