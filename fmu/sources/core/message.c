/* Why the last call failed. */

#include "model.h"

#include <stdarg.h>
#include <stdio.h>

bool model_fail(Model *model, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(model->message, MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}
