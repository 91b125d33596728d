/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/mpi/comms.c - one communicator of Tacit stands for all of MPI's:
 * each of those has a number, an attribute that its ranks agree on when it is
 * made, and the number goes into the tag. */
#include "triggered/mpi/names.h"
#include <limits.h>
#include <string.h>

static tacit_world *world;
static tacit_trigger_comm *all;
static MPI_Group world_group = MPI_GROUP_NULL;
static int key = MPI_KEYVAL_INVALID, made, size = 1, rank;
static bool packs_as_they_lie;
static char why_not[512] =
    "MPI was initialised without libtacit-triggered-mpi: "
    "link it before MPI";

/* --- the world ------------------------------------------------------------ */

static bool check_packing(void)
{
    const double x[2] = {1.0, -2.0};
    double y[2] = {0.0};
    int at = 0;
    return PMPI_Pack(x, 2, MPI_DOUBLE, y, sizeof y, &at, MPI_COMM_WORLD) ==
               MPI_SUCCESS &&
           at == (int)sizeof x && memcmp(x, y, sizeof x) == 0;
}

static int open_world(int code)
{
    if (code != MPI_SUCCESS) return code;
    tacit_status status = tacit_world_from_mpi(MPI_COMM_WORLD, &world);
    if (status >= 0) status = tacit_trigger_comm_create(world, &all);
    if (status < 0) strncpy(why_not, tacit_error_message(), sizeof why_not - 1);
    if (status < 0) tacit_world_destroy(&world);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    packs_as_they_lie = check_packing();
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
                                   MPI_COMM_NULL_DELETE_FN, &key, NULL);
}

TACIT_API int MPI_Init(int *argc, char ***argv)
{
    return open_world(PMPI_Init(argc, argv));
}

TACIT_API int MPI_Init_thread(int *argc, char ***argv, int wished, int *got)
{
    return open_world(PMPI_Init_thread(argc, argv, wished, got));
}

/* Queues and requests that are left keep their memory. */
TACIT_API int MPI_Finalize(void)
{
    if (tacit_trigger_comm_free(&all) >= 0) tacit_world_destroy(&world);
    if (world_group != MPI_GROUP_NULL) PMPI_Group_free(&world_group);
    if (key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&key);
    return PMPI_Finalize();
}

tacit_trigger_comm *tct_mpi_world(void)
{
    if (!all) tacit_error_set(TACIT_UNSUPPORTED, "%s", why_not);
    return all;
}

/* --- numbers of communicators --------------------------------------------- */

/* The first rank numbers those that it makes. */
static int number(int code, const MPI_Comm *out)
{
    long own = 2 + rank + (long)made++ * size; /* 0, 1: world, self */
    if (code != MPI_SUCCESS || *out == MPI_COMM_NULL ||
        key == MPI_KEYVAL_INVALID)
        return code;
    code = PMPI_Bcast(&own, 1, MPI_LONG, 0, *out);
    if (code != MPI_SUCCESS) return code;
    return PMPI_Comm_set_attr(*out, key, (void *)(uintptr_t)own);
}

TACIT_API int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    return number(PMPI_Comm_dup(comm, out), out);
}
TACIT_API int MPI_Comm_split(MPI_Comm comm, int colour, int order,
                             MPI_Comm *out)
{
    return number(PMPI_Comm_split(comm, colour, order, out), out);
}
TACIT_API int MPI_Comm_split_type(MPI_Comm comm, int type, int order,
                                  MPI_Info info, MPI_Comm *out)
{
    return number(PMPI_Comm_split_type(comm, type, order, info, out), out);
}
TACIT_API int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *out)
{
    return number(PMPI_Comm_create(comm, group, out), out);
}
TACIT_API int MPI_Cart_create(MPI_Comm comm, int dimensions, const int n[],
                              const int periodic[], int reorder, MPI_Comm *out)
{
    return number(PMPI_Cart_create(comm, dimensions, n, periodic, reorder, out),
                  out);
}
TACIT_API int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *out)
{
    return number(PMPI_Cart_sub(comm, remain, out), out);
}
TACIT_API int
MPI_Dist_graph_create_adjacent(MPI_Comm comm, int from, const int sources[],
                               const int source_weights[], int to,
                               const int targets[], const int target_weights[],
                               MPI_Info info, int reorder, MPI_Comm *out)
{
    return number(PMPI_Dist_graph_create_adjacent(
                      comm, from, sources, source_weights, to, targets,
                      target_weights, info, reorder, out),
                  out);
}

/* -1: it has none. */
static int64_t number_of(MPI_Comm comm)
{
    void *value = NULL;
    int found = 0;
    if (comm == MPI_COMM_WORLD) return 0;
    if (comm == MPI_COMM_SELF) return 1;
    if (PMPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS || !found)
        return -1;
    return (int64_t)(uintptr_t)value;
}

/* --- translations --------------------------------------------------------- */

tacit_status tct_mpi_translate(MPI_Comm comm, int peer, int tag, int *to,
                               int64_t *wide)
{
    const int64_t own = number_of(comm);
    MPI_Group group;
    if (peer == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && peer != MPI_PROC_NULL))
        return tacit_error_set(TACIT_INVALID,
                               "MPI_Match: a request of any rank or any tag "
                               "cannot be matched: give one");
    if (own < 0)
        return tacit_error_set(TACIT_UNSUPPORTED,
                               "MPI_Match: a communicator made by a call that "
                               "tacit/triggered_mpi.h does not list: use "
                               "MPI_Comm_dup of it");
    *to = TACIT_TRIGGER_NOBODY;
    *wide = 0;
    if (peer == MPI_PROC_NULL) return TACIT_OK;
    *wide = own << 32 | tag;
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS ||
        PMPI_Group_translate_ranks(group, 1, &peer, world_group, to) !=
            MPI_SUCCESS)
        return tacit_error_set(TACIT_COMM, "MPI_Match: rank %d is not found",
                               peer);
    PMPI_Group_free(&group);
    return TACIT_OK;
}

/* Integers by their size. */
static tacit_trigger_type integer(int bytes, bool is_signed)
{
    const tacit_trigger_type first =
        is_signed ? TACIT_TRIGGER_I8 : TACIT_TRIGGER_U8;
    const int place = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
    return (tacit_trigger_type)((int)first + place);
}

static bool is_one_of(MPI_Datatype type, size_t count, const MPI_Datatype *list)
{
    size_t k = 0;
    while (k < count && list[k] != type) k++;
    return k < count;
}

static bool classify(MPI_Datatype type, int bytes, tacit_trigger_type *out)
{
    const MPI_Datatype ints[] = {MPI_SIGNED_CHAR, MPI_SHORT,     MPI_INT,
                                 MPI_LONG,        MPI_LONG_LONG, MPI_INT8_T,
                                 MPI_INT16_T,     MPI_INT32_T,   MPI_INT64_T,
                                 MPI_CHAR},
                       unsigneds[] = {MPI_UNSIGNED_CHAR,     MPI_UNSIGNED_SHORT,
                                      MPI_UNSIGNED,          MPI_UNSIGNED_LONG,
                                      MPI_UINT8_T,           MPI_UINT16_T,
                                      MPI_UINT32_T,          MPI_UINT64_T,
                                      MPI_UNSIGNED_LONG_LONG};
    if (is_one_of(type, sizeof ints / sizeof *ints, ints))
        *out = integer(bytes, true);
    else if (is_one_of(type, sizeof unsigneds / sizeof *unsigneds, unsigneds))
        *out = integer(bytes, false);
    else if (type == MPI_FLOAT) *out = TACIT_TRIGGER_F32;
    else if (type == MPI_DOUBLE) *out = TACIT_TRIGGER_F64;
    else if (type == MPI_BYTE || (type == MPI_PACKED && packs_as_they_lie))
        *out = TACIT_TRIGGER_BYTE;
    else return false;
    return true;
}

tacit_status tct_mpi_type(MPI_Datatype type, tacit_trigger_type *out,
                          int *bytes)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Type_size(type, bytes);
    if (classify(type, *bytes, out)) return TACIT_OK;
    PMPI_Type_get_name(type, name, &length);
    return tacit_error_set(TACIT_UNSUPPORTED,
                           "MPI_Match: type %s%sis not one of the basic types "
                           "that go without packing: pack it, and send "
                           "MPI_BYTE",
                           length > 0 ? name : "derived", " ");
}
