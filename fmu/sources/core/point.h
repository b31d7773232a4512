/* The point of an evaluation: time and states, and the switches of the time events. */

#ifndef POINT_H
#define POINT_H

#include "model.h"

bool model_set_time(Model *model, double time);
bool model_set_states(Model *model, const double *states);
void model_move(Model *model, double time, const double *states); /* unchecked, for inner solvers; inputs follow */

void model_update_switches(Model *model);    /* sets those whose event time has come */
bool model_event_is_due(const Model *model); /* a switch ought to be set */
double model_next_event(const Model *model); /* s; INFINITY: none */

#endif
