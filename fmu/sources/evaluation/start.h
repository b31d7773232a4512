/* The search for the start states, where they follow the parameters. */

#ifndef START_H
#define START_H

#include "model.h"

bool start_find(Model *model); /* runs the first stages of START, where it has phases */

#endif
