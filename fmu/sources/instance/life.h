/* The life of an instance: memory, start values, initialisation. */

#ifndef LIFE_H
#define LIFE_H

#include "model.h"

bool model_create(Model *model, bool co_simulation); /* false: no memory (message is set) */
void model_destroy(Model *model);
void model_reset(Model *model); /* start values, MODE_INSTANTIATED */
bool model_set_up(Model *model, double tolerance, double start_time, double stop_time); /* as in RunState */
bool model_enter_initialization(Model *model);
bool model_exit_initialization(Model *model);

#endif
