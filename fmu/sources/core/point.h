/* The point of an evaluation: time and states, and the switches of events, which are constant between these. */

#ifndef POINT_H
#define POINT_H

#include "model.h"

bool model_set_time(Model *model, double time);
bool model_set_states(Model *model, const double *states);
void model_move(Model *model, double time, const double *states); /* unchecked, for inner solvers; inputs follow */

void tables_follow_parameters(Model *model); /* once what their arguments are made of is known */

/* Switches: which time events have come, and which relations between states hold. */
bool switches_follow_time(Model *model); /* sets those whose event time has come; whether one has changed */
double switches_next_time(const Model *model); /* s, of the next time event; INFINITY: none */

/* For relations the model must stand evaluated. */
bool switches_are_due(const Model *model);  /* one ought to be another */
bool relations_are_due(const Model *model); /* one of a relation */
double relation_side(const Model *model, int relation);     /* 1 where it holds, else -1 */
double relation_distance(const Model *model, int relation); /* its indicator times its side: below 0 it is due */
/* Makes all relations what their indicators say. Number of one that has changed; -1: none has. */
int switches_follow_states(Model *model);

/* n_relations numbers whose signs change where relations do: an indicator that vanishes has its relation's side. */
void switches_indicators(const Model *model, double *indicators);

#endif
