/* Selection of the inner solver. */

#ifndef METHODS_H
#define METHODS_H

#include "integrator.h"

#include <stddef.h>

const Integrator *integrator_of(Model *model); /* solver according to the setting solver_method */
size_t integrator_scratch(void);               /* doubles of scratch memory, sufficient for all solvers */
size_t integrator_memory(void);                /* doubles, enough for any of them; then for ahead.h and grazing.h */

#endif
