/* SPDX-License-Identifier: BSD-3-Clause
 * base/room.c - how much memory is available: of the system, within the limits
 * of the process, and within its control groups, which containers and batch
 * systems set (Linux: cgroup-v2.rst; memory.txt of version 1). Pages of files
 * count as available: the system reclaims them. */
#include "base/room.h"
#include "base/base.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_MOST = 4096, LINE_MOST = 8192 };

bool tct_read_number(const char *path, const char *key, uint64_t *out)
{
    FILE *f = fopen(path, "r");
    if (!f) return false;
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof line, f)) {
        const size_t skip = strlen(key);
        if (strncmp(line, key, skip) != 0) continue;
        char *end;
        *out = strtoull(line + skip, &end, 10);
        found = end != line + skip;
    }
    fclose(f);
    return found;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- control groups ------------------------------------------------------- */

typedef struct {
    const char *type;  /* of the file system, in mountinfo */
    const char *usual; /* where it is mounted              */
    const char *limit, *now;
    const char *given[3]; /* in memory.stat: reclaimable, ... */
    const char *mapped;   /* ... but for mapped program files */
} hierarchy;

static const hierarchy versions[] = {
    {.type = "cgroup2",
     .usual = "/sys/fs/cgroup",
     .limit = "memory.max",
     .now = "memory.current",
     .given = {"inactive_file ", "active_file ", "slab_reclaimable "},
     .mapped = "file_mapped "},
    {.type = "cgroup",
     .usual = "/sys/fs/cgroup/memory",
     .limit = "memory.limit_in_bytes",
     .now = "memory.usage_in_bytes",
     .given = {"total_inactive_file ", "total_active_file ", NULL},
     .mapped = "total_mapped_file "}};

/* A mounted hierarchy: the group at its root, and its path. */
typedef struct {
    char group[PATH_MOST], path[PATH_MOST];
} mount_point;

/* The number after `key` in `folder`/`file`. */
static bool number_of(const char *folder, const char *file, const char *key,
                      uint64_t *out)
{
    char path[3 * PATH_MOST];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return tct_read_number(path, key, out);
}

static uint64_t room_of_group(const hierarchy *h, const char *folder)
{
    uint64_t limit = 0, now = 0, given = 0, mapped = 0;
    if (!number_of(folder, h->limit, "", &limit)) return UINT64_MAX;
    number_of(folder, h->now, "", &now);
    for (int i = 0; i < 3 && h->given[i]; i++) {
        uint64_t bytes = 0;
        number_of(folder, "memory.stat", h->given[i], &bytes);
        given += bytes;
    }
    number_of(folder, "memory.stat", h->mapped, &mapped);
    given -= least(given, mapped);
    now -= least(now, given);
    return limit - least(limit, now);
}

/* The minimum over `group` below `top` and all its ancestors. */
static uint64_t room_of_groups(const hierarchy *h, const char *top,
                               const char *group)
{
    char folder[2 * PATH_MOST];
    uint64_t room = UINT64_MAX;
    const size_t root = strlen(top);
    snprintf(folder, sizeof folder, "%s%s", top, group);
    for (;;) {
        room = least(room, room_of_group(h, folder));
        char *cut = strrchr(folder + root, '/');
        if (!cut) return room;
        *cut = '\0';
    }
}

static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += n)
        if ((at == list || at[-1] == ',') && (!at[n] || strchr(",\n", at[n])))
            return true;
    return false;
}

/* Is this line of mountinfo the hierarchy's? "36 35 98:0 GROUP PATH ... - TYPE
 * SOURCE OPTIONS" */
static bool is_mount(const hierarchy *h, const char *line, mount_point *out)
{
    char type[64], options[1024] = "";
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(rest, " - %63s %*s %1023s", type, options) < 1)
        return false;
    if (strcmp(type, h->type) != 0) return false;
    if (h == &versions[1] && !has_word(options, "memory")) return false;
    return sscanf(line, "%*s %*s %*s %4095s %4095s", out->group, out->path) ==
           2;
}

static FILE *open_below(const char *root, const char *file)
{
    char path[PATH_MOST];
    snprintf(path, sizeof path, "%s%s", root, file);
    return fopen(path, "r");
}

static void find_mount(const hierarchy *h, const char *root, mount_point *out)
{
    char line[LINE_MOST];
    bool found = false;
    FILE *f = open_below(root, "/proc/self/mountinfo");
    while (f && !found && fgets(line, sizeof line, f))
        found = is_mount(h, line, out);
    if (f) fclose(f);
    if (found) return;
    snprintf(out->group, sizeof out->group, "/");
    snprintf(out->path, sizeof out->path, "%s", h->usual);
}

/* The path of `group` relative to the mount's group; "" for the mount itself,
 * or if the group is not visible in it. */
static const char *below(const mount_point *mount, const char *group)
{
    size_t n = strlen(mount->group);
    while (n > 0 && mount->group[n - 1] == '/') n--;
    if (strstr(group, "/..") || strncmp(group, mount->group, n) != 0) return "";
    return group[n] == '/' && group[n + 1] ? group + n : "";
}

/* "7:memory,cpu:/a/b", or "0::/a/b" of version 2 */
static uint64_t room_of_line(const char *root, char *line)
{
    char top[2 * PATH_MOST];
    mount_point mount;
    char *list = strchr(line, ':'),
         *group = list ? strchr(list + 1, ':') : NULL;
    if (!group) return UINT64_MAX;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    const bool is_new = strcmp(line, "0:") == 0;
    if (!is_new && !has_word(list + 1, "memory")) return UINT64_MAX;
    const hierarchy *h = &versions[is_new ? 0 : 1];
    find_mount(h, root, &mount);
    snprintf(top, sizeof top, "%s%s", root, mount.path);
    return room_of_groups(h, top, below(&mount, group));
}

uint64_t tct_room_of_groups(const char *root)
{
    char line[LINE_MOST];
    uint64_t room = UINT64_MAX;
    FILE *f = open_below(root, "/proc/self/cgroup");
    while (f && fgets(line, sizeof line, f))
        room = least(room, room_of_line(root, line));
    if (f) fclose(f);
    return room;
}

/* --- all that limits ------------------------------------------------------ */

enum { KEPT_BACK = 16 };

uint64_t tct_memory_of_machine(void)
{
    uint64_t kib = 0, bytes = UINT64_MAX;
    if (tct_read_number("/proc/meminfo", "MemAvailable:", &kib))
        bytes = kib << 10;
    /* page tables and other system memory, and small blocks that are not
     * checked */
    const uint64_t groups = tct_room_of_groups("");
    return least(bytes, groups - groups / KEPT_BACK);
}

static uint64_t room_of_limit(int which, uint64_t pages)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)which, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    const uint64_t most = limit.rlim_cur,
                   now = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return most - least(most, now);
}

static atomic_size_t used;

void tct_memory_count(int64_t bytes)
{
    atomic_fetch_add(&used, (size_t)bytes);
}

size_t tct_memory_used(void)
{
    return atomic_load(&used);
}

/* Memory that this process has allocated and not yet written to; the system
 * counts it only when it is written. */
static uint64_t unwritten(uint64_t pages)
{
    const uint64_t given = tct_memory_used(),
                   written = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return given - least(given, written);
}

uint64_t tct_memory_available(void)
{
    unsigned long long all = 0, resident = 0, shared = 0, data = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%llu %llu %llu %*s %*s %llu", &all, &resident, &shared,
                    &data) != 4)
        all = resident = shared = data = 0;
    if (f) fclose(f);
    const uint64_t machine = tct_memory_of_machine(),
                   owed = unwritten(resident - least(resident, shared));
    return least(
        machine - least(machine, owed),
        least(room_of_limit(RLIMIT_AS, all), room_of_limit(RLIMIT_DATA, data)));
}
