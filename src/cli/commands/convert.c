/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/convert.c - `tacit convert`: from one file format, or the
 * gallery, to another. */
#include "cli/system/problem.h"
#include <inttypes.h>

static tacit_status write_and_say(const cli *c, const cli_problem *p)
{
    const char *to = c->set.operand[1];
    const double start = base_seconds();
    TRY(tacit_matrix_write(p->matrix, to));
    if (cli_prints(c) && !cli_output_taken(c))
        printf("%s: %" PRId64 " x %" PRId64 ", %" PRId64 " entries; read "
               "%.3g s, written %.3g s\n",
               to, p->info.rows, p->info.cols, p->info.nonzeros,
               p->read_seconds, base_seconds() - start);
    return TACIT_OK;
}

static tacit_status convert_run(cli *c)
{
    TRY(tacit_file_check_writable(c->world, c->set.operand[1],
                                  TACIT_FILE_MATRIX));
    return cli_problem_with(c, c->set.operand[0], CLI_FOR_READING,
                            write_and_say);
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
    .takes = {2, 2},
    .run = convert_run,
};
