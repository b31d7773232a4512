/* Which inner solver is used. */

#ifndef METHODS_H
#define METHODS_H

#include "integrator.h"

#include <stddef.h>

const Integrator *integrator_of(Model *model); /* by the setting solver_method */
size_t integrator_scratch(void);               /* doubles, enough for any of them */
size_t integrator_memory(void);                /* doubles, enough for any of them; then for ahead.h and grazing.h */

#endif
