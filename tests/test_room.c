/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_room.c - memory left by control groups of both versions, from
 * files in a test folder, and by the limits of a process; pages that a buffer
 * takes. */
#include "base/base.h"
#include "base/room.h"
#include "io_files.h"
#include "mpi_main.h"
#include <sys/mman.h>
#include <sys/resource.h>

enum { PATH = 400 };

/* `text` into `file` below a made root. */
static void put(const char *file, const char *text)
{
    char path[PATH], command[PATH + 20];
    snprintf(path, sizeof path, "%s/%s", in_folder("root"), file);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%.300s')\"", path);
    must(system(command) == 0, command);
    put_bytes(path, text, strlen(text));
}

static void start_anew(void)
{
    char command[PATH];
    snprintf(command, sizeof command, "rm -rf '%s'", in_folder("root"));
    must(system(command) == 0, command);
}

static void assert_room(uint64_t expected)
{
    assert_int_equal(tct_room_of_groups(in_folder("root")), expected);
}

static void no_groups_leave_all(void **state)
{
    (void)state;
    start_anew();
    assert_room(UINT64_MAX);
    put("proc/self/cgroup", "");
    assert_room(UINT64_MAX);
    put("proc/self/cgroup", "0::/\nno line\n:\n::\n3:memory\n");
    assert_room(UINT64_MAX);
}

/* The least of all groups on the way to the root, files taken back. */
static void groups_of_version_2(void **state)
{
    (void)state;
    start_anew();
    put("proc/self/cgroup", "0::/user.slice/job/step\n");
    put("sys/fs/cgroup/user.slice/job/step/memory.max", "max\n");
    put("sys/fs/cgroup/user.slice/job/step/memory.current", "5000\n");
    assert_room(UINT64_MAX);
    put("sys/fs/cgroup/user.slice/job/memory.max", "1000000\n");
    assert_room(1000000);
    put("sys/fs/cgroup/user.slice/job/memory.current", "400000\n");
    assert_room(600000);
    put("sys/fs/cgroup/user.slice/job/memory.stat",
        "anon 100000\nfile 300000\ninactive_anon 7\nactive_anon 8\n"
        "inactive_file 200000\nactive_file 50000\nslab_reclaimable 1000\n"
        "file_mapped 1000\n");
    assert_room(850000);
    put("sys/fs/cgroup/user.slice/memory.max", "700000\n");
    put("sys/fs/cgroup/user.slice/memory.current", "800000\n");
    assert_room(0); /* more is used than may be */
    put("sys/fs/cgroup/user.slice/memory.current", "10\n");
    assert_room(699990);
}

/* A container sees its own group as the root, whatever its group is called. */
static void groups_of_a_container(void **state)
{
    (void)state;
    start_anew();
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/memory.max", "8589934592\n");
    put("sys/fs/cgroup/memory.current", "1024\n");
    assert_room(8589934592u - 1024);
    put("proc/self/cgroup", "0::/../../other\n");
    assert_room(8589934592u - 1024);
    put("proc/self/cgroup", "0::/system.slice/docker-0123.scope\n");
    assert_room(8589934592u - 1024);
}

static void groups_of_version_1(void **state)
{
    (void)state;
    start_anew();
    put("proc/self/cgroup", "9:name=systemd:/memory\n5:memoryless:/a\n"
                            "4:cpu,memory:/a/b\n0::/\n");
    put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
        "9223372036854771712\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2000000\n");
    put("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1500000\n");
    put("sys/fs/cgroup/memory/a/memory.stat",
        "cache 1\ninactive_file 3\nactive_file 4\ntotal_cache 9\n"
        "total_inactive_file 300000\ntotal_active_file 100000\n");
    assert_room(900000);
}

/* Mounted elsewhere, and a part of it alone. */
static void groups_where_they_are_mounted(void **state)
{
    (void)state;
    start_anew();
    put("proc/self/mountinfo",
        "25 1 0:22 / /sys rw - sysfs sysfs rw\n"
        "31 25 0:27 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n"
        "32 25 0:28 /docker/12 /groups/mem ro shared:10 - cgroup cgroup "
        "rw,memory\n"
        "33 25 0:29 / /groups/unified rw - cgroup2 cgroup2 rw\n");
    put("proc/self/cgroup", "4:memory:/docker/12/job\n0::/b\n");
    put("groups/mem/memory.limit_in_bytes", "5000000\n");
    put("groups/mem/memory.usage_in_bytes", "0\n");
    assert_room(5000000);
    put("groups/mem/job/memory.limit_in_bytes", "3000000\n");
    assert_room(3000000);
    put("groups/unified/b/memory.max", "2000000\n");
    assert_room(2000000);
    put("proc/self/cgroup", "4:memory:/docker/123/job\n");
    assert_room(5000000); /* another group's name begins alike */
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITED 0 /* a sanitizer wants memory for itself */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LIMITED 0
#endif
#endif
#ifndef LIMITED
#define LIMITED 1
#endif

/* One process has less than the machine, and several have so much each. */
static void limits_of_the_process(void **state)
{
    (void)state;
    struct rlimit before, less;
    const uint64_t machine = tct_memory_of_machine();
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    less = before;
    less.rlim_cur = (rlim_t)1 << 30;
    if (!LIMITED || machine < (uint64_t)3 << 30 ||
        less.rlim_cur > before.rlim_max)
        skip();
    assert_int_equal(setrlimit(RLIMIT_DATA, &less), 0);
    const uint64_t own = tct_memory_available();
    const tacit_status one = tct_memory_require(0x1.8p30, "it"),
                       two = tct_memory_require_of(2, 0x1.8p30, "they"),
                       much = tct_memory_require_of(2, 0x1p60, "they");
    double *p = NULL;
    const tacit_status array = TCT_ALLOC((size_t)3 << 26, "numbers", &p);
    char said[400];
    snprintf(said, sizeof said, "%s", tacit_error_message());
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
    assert_true(own <= (uint64_t)1 << 30);
    assert_int_equal(one, TACIT_NO_MEMORY);
    assert_int_equal(array, TACIT_NO_MEMORY);
    assert_non_null(strstr(said, "raise a limit of it (ulimit -v)"));
    assert_int_equal(much, TACIT_NO_MEMORY);
    if (own > (uint64_t)800 << 20) assert_int_equal(two, TACIT_OK);
}

/* Does the system give large pages unasked? */
static bool always_large(void)
{
    char text[64] = "";
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!f) return false;
    if (!fgets(text, sizeof text, f)) text[0] = '\0';
    fclose(f);
    return strstr(text, "[always]") != NULL;
}

/* 64 MiB, more than malloc ever takes from its heap, written once a MiB. */
static void small_pages_come_as_written(void **state)
{
    (void)state;
    enum { MIB = 1 << 20, COUNT = 64, PAGES = COUNT * MIB / 4096 };
    static unsigned char resident[PAGES];
    if (sysconf(_SC_PAGESIZE) != 4096 || always_large()) skip();
    char *p = tct_alloc_small_pages((size_t)COUNT * MIB);
    assert_non_null(p);
    for (size_t k = 0; k < COUNT; k++) p[k * MIB] = 1;
    char *from = p + (4096 - (uintptr_t)p % 4096) % 4096;
    assert_int_equal(mincore(from, (size_t)COUNT * MIB - 4096, resident), 0);
    int count = 0;
    for (int k = 0; k < PAGES - 1; k++) count += resident[k] & 1;
    tct_free(p);
    assert_in_range(count, COUNT - 1, 4 * COUNT);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_groups_leave_all),
        cmocka_unit_test(groups_of_version_2),
        cmocka_unit_test(groups_of_a_container),
        cmocka_unit_test(groups_of_version_1),
        cmocka_unit_test(groups_where_they_are_mounted),
        cmocka_unit_test(limits_of_the_process),
        cmocka_unit_test(small_pages_come_as_written),
    };
    TEST_MPI_MAIN(tests);
}
