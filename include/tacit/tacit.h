/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/tacit.h - all of Tacit except the headers that need MPI or CUDA
 * (tacit/mpi.h, tacit/cuda.h).
 *
 * Messages count rows and columns of a matrix from 1, as Matrix Market files
 * do; an element of an array of the caller's has its index in C: cols[k]. */
#ifndef TACIT_TACIT_H
#define TACIT_TACIT_H
#include <tacit/exchange.h>
#include <tacit/factor.h>
#include <tacit/file.h>
#include <tacit/foreign.h>
#include <tacit/halo.h>
#include <tacit/matrix.h>
#include <tacit/operator.h>
#include <tacit/precond.h>
#include <tacit/queue.h>
#include <tacit/solver.h>
#include <tacit/status.h>
#include <tacit/stencil.h>
#include <tacit/triggered.h>
#include <tacit/trsv.h>
#include <tacit/version.h>
#include <tacit/world.h>
#endif
