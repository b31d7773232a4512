/* What happens in an event. */

#ifndef EVENTS_H
#define EVENTS_H

#include "model.h"

/* Sets the switches as time and states have it where the model stands, which is evaluated afterwards if there are
   relations. Fails where they contradict each other, and where there is no end of events. */
bool model_handle_event(Model *model);

/* *due: whether that would change a relation. */
bool model_expect_change(Model *model, bool *due);

/* s, of the next event in time that an importer's solver has to stop at; INFINITY: none. */
double events_next_time(const Model *model);

/* n_relations numbers, see switches.h. */
bool model_event_indicators(Model *model, double *indicators);

#endif
