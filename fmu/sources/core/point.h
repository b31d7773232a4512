/* Point of an evaluation: time, states, and switches, which are constant between events. */

#ifndef POINT_H
#define POINT_H

#include "model.h"

bool model_set_time(Model *model, double time);
bool model_set_states(Model *model, const double *states);
void model_move(Model *model, double time, const double *states); /* sets time and states without checks, for inner
                                                                     solvers; inputs are set accordingly */

void tables_follow_parameters(Model *model); /* updates the current pieces after a change of parameters */

/* Switches: reached event times, and switching conditions that depend on states. */
bool switches_follow_time(Model *model); /* sets the switches of reached event times; returns whether a switch has
                                            changed */
double switches_next_time(const Model *model); /* time of the next time event, s; INFINITY: none */

/* Functions about switching conditions, for which the model must have been evaluated. */
void samples_begin(Model *model); /* initial values of held variables; the first sample is the next one after the time */
int sample_due(const Model *model); /* first sampler whose sample time has been reached; -1: none */
void sample_take(Model *model, int sampler); /* copies the result of SAMPLES to the held variables of a sampler */
bool switches_are_due(const Model *model);  /* whether a switch differs from its condition */
bool relations_are_due(const Model *model); /* whether a switch differs from its state-dependent condition */
double relation_side(const Model *model, int relation);     /* 1 if the switching condition is true, else -1 */
double relation_distance(const Model *model, int relation); /* event indicator times `relation_side`; the switch must
                                                               change if it is negative */
/* Sets the switches of all switching conditions from their indicators. Returns the index of a changed one, or -1. */
int switches_follow_states(Model *model);

/* Computes n_relations event indicators whose signs change together with the switching conditions. An indicator of
   zero receives the sign of the current switch. */
void switches_indicators(const Model *model, double *indicators);

#endif
