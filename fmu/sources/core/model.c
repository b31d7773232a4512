/* Functions with which all parts report changes and failures to an instance. */

#include "model.h"

#include <stdarg.h>
#include <stdio.h>

double model_time(const Model *model) { return model->workspace[equations.blocks.time]; }

void model_changed(Model *model, uint32_t groups) { model->run.dirty |= groups; }

bool model_fail(Model *model, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(model->message, MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}
