/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/convert.c - `tacit convert`: a matrix from one file format, or from the
 * gallery, into another. */
#include "cli/system/problem.h"
#include <inttypes.h>

static tacit_status convert_run(cli *c)
{
    const char *to = c->set.operand[1];
    TRY(tacit_file_check_writable(c->world, to, TACIT_FILE_MATRIX));
    cli_problem p;
    TRY(cli_problem_open(c, c->set.operand[0], CLI_FOR_READING, &p));
    const double start = base_seconds();
    const tacit_status status = tacit_matrix_write(p.matrix, to);
    if (status >= 0 && cli_prints(c) && !cli_output_taken(c))
        printf("%s: %" PRId64 " x %" PRId64 ", %" PRId64 " entries; read "
               "%.3g s, written %.3g s\n",
               to, p.info.rows, p.info.cols, p.info.nonzeros, p.read_seconds,
               base_seconds() - start);
    cli_problem_close(&p);
    return status;
}

const cli_command cli_command_convert = {
    .name = "convert",
    .operands = "IN OUT",
    .summary = "between file formats; IN may be a gallery name",
    .about =
        "Read the matrix IN, a file told by its content or a gallery "
        "name, and write it to OUT in the format of its ending: .mtx, "
        ".mtx.gz, .tacit, .petsc, .npz. IN may be -, standard input, and OUT "
        "-, standard output, in Matrix Market. OUT appears whole or not at "
        "all.",
    .least = 2,
    .most = 2,
    .run = convert_run,
};
