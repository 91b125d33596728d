/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_number.c - decimal to double and back, against the C library. */
#include "io/number.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The same value, bit for bit, and the same end as strtod finds. */
static void same_as_strtod(const char *text)
{
    char padded[2048] = {0}, *end;
    double mine = -1;
    assert_true(strlen(text) + TCT_SCAN_PAD < sizeof padded);
    memcpy(padded, text, strlen(text));
    const char *stop = tct_scan_double(padded, &mine);
    const double theirs = strtod(padded, &end);
    if (stop != end || bits_of(mine) != bits_of(theirs))
        fail_msg("'%s' is read as %a, strtod says %a", text, mine, theirs);
}

static uint64_t next_random(void)
{
    static uint64_t count;
    return tct_mix(count++);
}

static void printed_doubles(void **state)
{
    (void)state;
    char text[400];
    for (int i = 0; i < 200000; i++) {
        const double x = of_bits(next_random());
        if (!isfinite(x)) continue;
        snprintf(text, sizeof text, "%.*e", (int)(next_random() % 25), x);
        same_as_strtod(text);
        snprintf(text, sizeof text, "%.*f", (int)(next_random() % 22),
                 (double)(int64_t)next_random() * 0x1p-44);
        same_as_strtod(text);
    }
}

static void random_decimals(void **state)
{
    (void)state;
    char text[100];
    for (int i = 0; i < 200000; i++) {
        snprintf(text, sizeof text, "%llu.%llue%d",
                 (unsigned long long)(next_random() >> next_random() % 64),
                 (unsigned long long)(next_random() >> next_random() % 64),
                 (int)(next_random() % 720) - 360);
        same_as_strtod(text);
    }
}

/* Between two neighbours, exactly and by a hair to either side. */
static void halfway_decimals(void **state)
{
    (void)state;
    char text[400];
    for (int i = 0; i < 20000; i++) {
        const uint64_t exponent = 1023 - 60 + next_random() % 120;
        const uint64_t bits = next_random() >> 12 | exponent << 52;
        const long double half =
            ((long double)of_bits(bits) + (long double)of_bits(bits + 1)) / 2;
        const int n = snprintf(text, sizeof text, "%.150Lf", half);
        same_as_strtod(text);
        text[n] = '1';
        text[n + 1] = '\0';
        same_as_strtod(text);
        snprintf(text, sizeof text, "%.18Le", half);
        same_as_strtod(text);
    }
}

static void hard_decimals(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "0",
        "-0",
        "0.0e5",
        "1",
        "-1.5E+3",
        ".5",
        "5.",
        "1.e5",
        "1e22",
        "1e23",
        "8.5e23",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.00000000000000000000000000000000000000001",
        "45035996273704965e-1",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890",
        "00000000000000000000000000001.5",
        "0.000000000000000000000000000000000000000000000000123",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "-1e400",
        "1e99999999999999999999",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "2.2250738585072012e-308",
        "6.8985865317742005e-1",
        "7.2057594037927933e16",
        "nan",
        "inf",
        "-Infinity",
        "179769313486231580793728971405301e276"};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        if (strcmp(hard[i], "nan") != 0) same_as_strtod(hard[i]);
    double x = 0;
    assert_non_null(tct_scan_double("nan\0              ", &x));
    assert_true(isnan(x));
}

/* 1200 digits: the tie between two subnormals, and just above it. */
static void very_long_decimals(void **state)
{
    (void)state;
    char text[1400];
    const int n =
        snprintf(text, sizeof text, "%.1200Lf", (long double)0x1p-1074 * 3.5L);
    same_as_strtod(text);
    text[n] = '1';
    text[n + 1] = '\0';
    same_as_strtod(text);
}

static void fortran_exponents(void **state)
{
    (void)state;
    double x = 0;
    const char text[40] = "-1.25D-03 ";
    assert_ptr_equal(tct_scan_double(text, &x), text + 9);
    assert_true(x == -1.25e-3);
}

static void no_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",   "x",  "-",   "+",  ".",
                                        "e5", "1e", "1e+", "--1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char padded[40] = {0};
        double x;
        strcpy(padded, wrong[i]);
        assert_null(tct_scan_double(padded, &x));
    }
}

static void whole_numbers(void **state)
{
    (void)state;
    char text[64] = {0};
    int64_t x = 0;
    for (int i = 0; i < 200000; i++) {
        const int64_t want =
            (int64_t)(next_random() >> 1 >> next_random() % 63) *
            (next_random() % 2 ? 1 : -1);
        memset(text, 0, sizeof text);
        const int n = snprintf(text, sizeof text, "%lld", (long long)want);
        text[n] = i % 2 ? ' ' : '\n';
        assert_ptr_equal(tct_scan_int(text, &x), text + n);
        assert_true(x == want);
        char back[24];
        assert_int_equal(tct_print_int(back, want), n);
        assert_memory_equal(back, text, (size_t)n);
    }
    static const char *const wrong[] = {
        "9223372036854775808", "99999999999999999999999", "x", "-", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(text, 0, sizeof text);
        strcpy(text, wrong[i]);
        assert_null(tct_scan_int(text, &x));
    }
}

static void printed_and_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        const double x = i % 3 ? of_bits(next_random())
                               : (double)(int64_t)next_random() * 0x1p-40;
        if (!isfinite(x)) continue;
        char text[TCT_PRINT_MAX + TCT_SCAN_PAD] = {0};
        const int n = tct_print_double(text, x);
        double back = 0;
        assert_true(n < TCT_PRINT_MAX);
        assert_ptr_equal(tct_scan_double(text, &back), text + n);
        assert_true(bits_of(back) == bits_of(x));
    }
    char text[TCT_PRINT_MAX + TCT_SCAN_PAD] = {0};
    assert_int_equal(tct_print_double(text, 0.1), 3);
    assert_string_equal(text, "0.1");
    memset(text, 0, sizeof text);
    assert_int_equal(tct_print_double(text, -0.0), 2);
    assert_string_equal(text, "-0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_doubles),
        cmocka_unit_test(random_decimals),
        cmocka_unit_test(halfway_decimals),
        cmocka_unit_test(hard_decimals),
        cmocka_unit_test(very_long_decimals),
        cmocka_unit_test(fortran_exponents),
        cmocka_unit_test(no_numbers),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(printed_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
