/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_device_map.c - which ranks share a device, from their placement:
 * no rank has the device with its own number.
 *
 * RUN: np=1,3
 * PROCESSES: 3 */
#define TEST_DEVICE "host"
#include "comm/world/device_map.h"
#include "gpu.h"

static tct_rank_device at(const char *machine, const char *bus)
{
    tct_rank_device p;
    memset(&p, 0, sizeof p);
    snprintf(p.machine, sizeof p.machine, "boot of %s", machine);
    snprintf(p.host, sizeof p.host, "%s", machine);
    snprintf(p.device.bus, sizeof p.device.bus, "%s", bus);
    return p;
}

/* A slice of the GPU there. */
static tct_rank_device slice_at(const char *machine, const char *bus,
                                const char *uuid)
{
    tct_rank_device p = at(machine, bus);
    snprintf(p.device.uuid, sizeof p.device.uuid, "%s", uuid);
    return p;
}

static void expect(const tct_rank_device *all, int n, int ranks, int devices,
                   const char *host)
{
    const tacit_sharing s = tct_device_map_sharing(all, n);
    assert_int_equal(s.ranks, ranks);
    assert_int_equal(s.devices, devices);
    assert_string_equal(s.host, host);
}

static void who_has_one_of_his_own_shares_none(void **state)
{
    (void)state;
    /* ranks dealt out to machines in turn, devices in any order; two machines
     * have the same places on their buses */
    const tct_rank_device all[] = {at("a", "3b"), at("b", "5e"), at("a", "1a"),
                                   at("b", "3b"), at("a", "5e")};
    expect(all, 5, 3, 3, "a");
    expect(all + 1, 4, 2, 2, "b");
    for (int r = 0; r < 5; r++)
        assert_int_equal(tct_device_map_shared(all, 5, r), -1);
}

static void who_shares_is_found_wherever_he_is(void **state)
{
    (void)state;
    const tct_rank_device all[] = {at("a", "1a"), at("b", "1a"), at("b", "3b"),
                                   at("c", "1a"), at("b", "1a"), at("c", "1a"),
                                   at("c", "1a"), at("a", "3b")};
    expect(all, 8, 3, 1, "c");
    expect(all, 5, 3, 2, "b");
    expect(all, 4, 1, 1, "a");
    assert_int_equal(tct_device_map_shared(all, 8, 1), 4);
    assert_int_equal(tct_device_map_shared(all, 8, 4), 1);
    assert_int_equal(tct_device_map_shared(all, 8, 6), 3);
    assert_int_equal(tct_device_map_shared(all, 8, 2), -1);
}

static void slices_of_a_gpu_are_devices(void **state)
{
    (void)state;
    const tct_rank_device all[] = {
        slice_at("a", "1a", "f0"), slice_at("a", "1a", "f1"), at("a", "3b"),
        slice_at("b", "1a", "f1"), slice_at("a", "1a", "f0")};
    expect(all, 4, 3, 3, "a");
    expect(all, 5, 4, 3, "a");
    assert_int_equal(tct_device_map_shared(all, 5, 0), 4);
    assert_int_equal(tct_device_map_shared(all, 5, 1), -1);
    assert_int_equal(tct_device_map_same_gpu(all, 5, 1), 0);
    assert_int_equal(tct_device_map_same_gpu(all, 5, 2), -1);
    assert_int_equal(tct_device_map_same_gpu(all, 5, 3), -1);
    assert_int_equal(tct_device_map_same_gpu(all, 5, 4), 0);
    const tct_rank_device hosts[] = {at("a", ""), at("a", "")};
    assert_int_equal(tct_device_map_same_gpu(hosts, 2, 0), -1);
}

static void processors_are_nobodys_own(void **state)
{
    (void)state;
    tacit_sharing s = {.size = sizeof s}, none = {.size = 0};
    OK(tacit_device_sharing(test_world(), "host", &s));
    assert_int_equal(s.ranks, tacit_world_size(test_world()));
    assert_int_equal(s.devices, s.ranks);
    assert_true(strlen(s.host) > 0);
    EXPECT(TACIT_INVALID, tacit_device_sharing(test_world(), "hots", &s));
    EXPECT(TACIT_INVALID, tacit_device_sharing(test_world(), "host", &none));
}

/* As many as there are, or as ranks; and all can ask for the same one. */
static void gpus_are_dealt_out_in_turn(void **state)
{
    (void)state;
    tacit_sharing s = {.size = sizeof s};
    if (tacit_device_probe("cuda") != TACIT_OK) {
        printf("skipped: gpus_are_dealt_out_in_turn: %s\n",
               tacit_error_message());
        assert_true(tacit_device_sharing(test_world(), "cuda", &s) < 0);
        return;
    }
    OK(tacit_device_sharing(test_world(), "cuda", &s));
    const int shared = s.devices, ranks = tacit_world_size(test_world());
    int gpus = 0;
    for (char name[32];; gpus++) {
        snprintf(name, sizeof name, "cuda(%d)", gpus);
        const tacit_status status =
            tacit_device_sharing(test_world(), name, &s);
        if (status == TACIT_INVALID) break;
        OK(status);
        assert_int_equal(s.ranks, ranks);
        assert_int_equal(s.devices, 1);
    }
    assert_int_equal(shared, gpus < ranks ? gpus : ranks);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_one_of_his_own_shares_none),
        cmocka_unit_test(who_shares_is_found_wherever_he_is),
        cmocka_unit_test(slices_of_a_gpu_are_devices),
        cmocka_unit_test(processors_are_nobodys_own),
        cmocka_unit_test(gpus_are_dealt_out_in_turn),
    };
    TEST_MPI_MAIN(tests);
}
