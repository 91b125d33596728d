/* SPDX-License-Identifier: BSD-3-Clause
 * cli/values.c - the value of an option or of a key: checked, and written to
 * its field of the settings. */
#include "cli/base.h"
#include "cli/options.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *dashes(const cli_option *o)
{
    return o->group ? "--" : "";
}

static tacit_status set_int(const cli_option *o, const char *text, int64_t *to)
{
    const double endless = 9e15; /* exact in a double */
    int64_t value = 0;
    if (!cli_parse_integer(text, &value) || (double)value < o->least ||
        (double)value > o->most) {
        if (o->most < endless)
            FAIL(TACIT_INVALID,
                 "%s%s '%s': expected a whole number from %.0f to %.0f",
                 dashes(o), o->name, text, o->least, o->most);
        FAIL(TACIT_INVALID, "%s%s '%s': expected a whole number%s", dashes(o),
             o->name, text, o->least > 0 ? " greater than 0" : "");
    }
    *to = value;
    return TACIT_OK;
}

/* A number of bytes; K, M and G are powers of 1024. */
static tacit_status set_bytes(const cli_option *o, const char *text,
                              int64_t *to)
{
    static const char units[] = "KMG";
    char digits[32];
    const size_t length = strlen(text);
    const char *unit = strchr(units, text[length - 1]);
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    const double least = ceil(o->least / exp2(shift)),
                 most = floor(o->most / exp2(shift));
    int64_t value = 0;
    snprintf(digits, sizeof digits, "%.*s", (int)(length - (unit != NULL)),
             text);
    if (length >= sizeof digits || !cli_parse_integer(digits, &value) ||
        (double)value < least || (double)value > most)
        FAIL(TACIT_INVALID,
             "%s%s '%s': expected a whole number of bytes from %.0f to %.0f, "
             "or with K, M or G behind it",
             dashes(o), o->name, text, o->least, o->most);
    *to = value << shift;
    return TACIT_OK;
}

static tacit_status set_real(const cli_option *o, const char *text, double *to)
{
    double value = 0;
    if (!cli_parse_real(text, &value))
        FAIL(TACIT_INVALID, "%s%s '%s': not a number", dashes(o), o->name,
             text);
    if (!isfinite(value) || value < o->least || value > o->most)
        FAIL(TACIT_INVALID, "%s%s '%s': expected a finite number%s", dashes(o),
             o->name, text, o->least >= 0 ? ", 0 or greater" : "");
    const size_t digits = strcspn(text, "eEpP");
    if (value == 0.0 && strcspn(text, "123456789abcdfABCDF") < digits)
        FAIL(TACIT_INVALID,
             "%s%s '%s': nearer to 0 than any double: for 0 write 0", dashes(o),
             o->name, text);
    *to = value;
    return TACIT_OK;
}

static tacit_status check_int_auto(const cli_option *o, const char *text)
{
    int64_t value = 0;
    if (strcmp(text, "auto") == 0) return TACIT_OK;
    if (cli_parse_integer(text, &value) && (double)value >= o->least &&
        (double)value <= o->most)
        return TACIT_OK;
    FAIL(TACIT_INVALID,
         "%s%s '%s': expected a whole number from %.0f to %.0f, or auto",
         dashes(o), o->name, text, o->least, o->most);
}

static tacit_status check_shape(const cli_option *o, const char *text)
{
    int shape[3];
    if (strcmp(text, "auto") == 0 || cli_parse_shape(text, shape))
        return TACIT_OK;
    FAIL(TACIT_INVALID,
         "%s%s '%s': expected three numbers, such as 2x1x4, or auto", dashes(o),
         o->name, text);
}

/* An option of a preconditioner. Errors begin with its name: a deprecated
 * option has dashes. */
static tacit_status set_named(cli_settings *set, const cli_option *o,
                              const char *text)
{
    char why[512];
    const cli_key *key = cli_key_at((int)o->offset);
    const char *name = key->named->name;
    const tacit_status status =
        tacit_precond_options_set(&set->of_precond, key->precond, name, text);
    if (status >= 0 || !o->group) return status;
    snprintf(why, sizeof why, "%s", tacit_error_message());
    if (strncmp(why, name, strlen(name)) != 0) return status;
    return tacit_error_set(status, "--%s%s", o->name, why + strlen(name));
}

tacit_status cli_set_value(cli_settings *set, const cli_option *o,
                           const char *text)
{
    char *field = (char *)set + o->offset;
    if (text && text[0] == '\0')
        FAIL(TACIT_INVALID, "%s%s: its %s is empty", dashes(o), o->name,
             o->value);
    switch (o->kind) {
    case CLI_FLAG: *(bool *)(void *)field = true; return TACIT_OK;
    case CLI_COUNT: ++*(int *)(void *)field; return TACIT_OK;
    case CLI_INT: return set_int(o, text, (int64_t *)(void *)field);
    case CLI_BYTES: return set_bytes(o, text, (int64_t *)(void *)field);
    case CLI_REAL: return set_real(o, text, (double *)(void *)field);
    case CLI_NAMED: return set_named(set, o, text);
    case CLI_CHOICE: TRY(cli_axis_check(o->axis, text)); break;
    case CLI_SHAPE: TRY(check_shape(o, text)); break;
    case CLI_INT_AUTO: TRY(check_int_auto(o, text)); break;
    case CLI_TEXT:
    case CLI_READ:
    case CLI_WRITE: break;
    }
    memcpy(field, &text, sizeof text);
    return TACIT_OK;
}
