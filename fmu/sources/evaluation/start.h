/* Search for the start states of models whose start states depend on parameters. */

#ifndef START_H
#define START_H

#include "model.h"

bool start_find(Model *model); /* evaluates the first stages of START, if there are search phases */

#endif
