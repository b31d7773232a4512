/* Event handling. */

#ifndef EVENTS_H
#define EVENTS_H

#include "model.h"

/* Sets the switches according to time and states. If there are switching conditions, the model is evaluated
   afterwards. Fails if conditions contradict each other or events never end. */
bool model_handle_event(Model *model);

/* *due: whether event handling would change a switching condition. */
bool model_expect_change(Model *model, bool *due);

/* Returns the time of the next time event for an importer's solver, s; INFINITY: none. */
double events_next_time(const Model *model);

/* Computes n_relations event indicators; see switches_indicators. */
bool model_event_indicators(Model *model, double *indicators);

#endif
