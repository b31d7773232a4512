/* Access to variables by value reference, with checks. */

#ifndef VARIABLES_H
#define VARIABLES_H

#include "model.h"

bool variable_get_real(Model *model, unsigned reference, double *value);
bool variable_set_real(Model *model, unsigned reference, double value);
bool variable_get_integer(Model *model, unsigned reference, int32_t *value);
bool variable_set_integer(Model *model, unsigned reference, int32_t value);

/* Whether a setting of the solver may have a value. */
bool is_real_setting(double value);
bool is_integer_setting(IntegerSetting setting, int64_t value);

#endif
