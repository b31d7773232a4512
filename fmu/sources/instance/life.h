/* Creation, initialisation and end of an instance. */

#ifndef LIFE_H
#define LIFE_H

#include "model.h"

bool model_create(Model *model, bool co_simulation); /* false and a message if there is not enough memory */
void model_destroy(Model *model);
void model_reset(Model *model); /* sets start values and MODE_INSTANTIATED */
bool model_set_up(Model *model, double tolerance, double start_time, double stop_time); /* arguments as in RunState */
bool model_enter_initialization(Model *model);
bool model_exit_initialization(Model *model);

#endif
