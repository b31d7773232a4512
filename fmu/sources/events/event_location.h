/* Location of the time within a step at which a switching condition changes. */

#ifndef EVENT_LOCATION_H
#define EVENT_LOCATION_H

#include "grazing.h"

/* After a step from `begin` to the current time with constant switches: returns to the time just after the first
   change of a switching condition, if there is one. model->indicators contains the indicators at the begin. */
bool locate_event(Model *model, double begin, StepTo step_to, const void *step);

/* Stores the indicators at the begin of the next step, and whether an event is due there. */
bool note_indicators(Model *model);

#endif
