#include "schema/formats.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {

TEST(SchemaFormats, Quantities) {
    for (const char* good : {"0", "1", "-1", "+1", "1.", ".5", "0.5", "500m", "1k", "1Ki", "1.5Gi",
                             "2E", "2Ei", "1e3", "1E-3", "12e+3", "5n", "5u", " 1Gi\n"}) {
        EXPECT_TRUE(has_format(good, StringFormat::quantity)) << good;
    }
    for (const char* bad : {"", " ", ".", "-", "Gi", "1 Gi", "1GB", "1gi", "1K", "1KI", "e3", "1e",
                            "1e+", "1e3m", "1.2.3", "--1", "1,5", "0x10", "ten"}) {
        EXPECT_FALSE(has_format(bad, StringFormat::quantity)) << bad;
    }
}

TEST(SchemaFormats, NearQuantities) {
    EXPECT_EQ(near_quantity("1GB"), "1G");
    EXPECT_EQ(near_quantity("1 Gi"), "1Gi");
    EXPECT_EQ(near_quantity("512mi"), "512Mi");
    EXPECT_EQ(near_quantity("1K"), "1k");
    EXPECT_EQ(near_quantity("1GiB"), "1Gi");
    EXPECT_FALSE(near_quantity("one"));
    EXPECT_FALSE(near_quantity(""));
    EXPECT_FALSE(near_quantity(std::string(1000, '1') + "GB"));
}

TEST(SchemaFormats, Durations) {
    for (const char* good : {"0", "30s", "1m30s", "1.5h", ".5s", "1.s", "-5ms", "+1h", "10\u00b5s",
                             "10\u03bcs", "5us", "1h1m1s1ms1us1ns", "0s"}) {
        EXPECT_TRUE(has_format(good, StringFormat::duration)) << good;
    }
    for (const char* bad : {"", "1", "s", ".s", "1 s", "1d", "5 minutes", "1m 30s", "1s2", "-",
                            "--1s", "1e3s", "inf"}) {
        EXPECT_FALSE(has_format(bad, StringFormat::duration)) << bad;
    }
}

TEST(SchemaFormats, Base64) {
    for (const char* good : {"", "YQ==", "YWI=", "YWJj", "YWJj\nYQ==\n", "+/+/"}) {
        EXPECT_TRUE(has_format(good, StringFormat::byte)) << good;
    }
    for (const char* bad :
         {"a", "YQ=", "YQ", "Y===", "====", "YQ==YQ==", "YW J", "YW-_", "\xC3\xA4=="}) {
        EXPECT_FALSE(has_format(bad, StringFormat::byte)) << bad;
    }
}

TEST(SchemaFormats, Times) {
    for (const char* good :
         {"2025-01-31T12:00:00Z", "2025-01-31T12:00:00.123456Z", "2025-01-31T12:00:00+02:00"}) {
        EXPECT_TRUE(has_format(good, StringFormat::date_time)) << good;
    }
    for (const char* bad :
         {"", "2025-01-31", "2025-01-31T12:00:00", "2025-01-31 12:00:00Z", "2025-01-31T12:00:00.Z",
          "2025-01-31T12:00:00+2", "2025-01-31T12:00:00ZZ"}) {
        EXPECT_FALSE(has_format(bad, StringFormat::date_time)) << bad;
    }
}

TEST(SchemaFormats, Names) {
    const std::string label(63, 'a');
    const std::string subdomain = label + '.' + label + '.' + label + '.' + label.substr(2);
    ASSERT_EQ(subdomain.size(), 253U);
    for (const std::string& good :
         {std::string("a"), std::string("0"), std::string("a-b"), label}) {
        for (const StringFormat format :
             {StringFormat::dns_label, StringFormat::dns_subdomain, StringFormat::label_value}) {
            EXPECT_TRUE(has_format(good, format)) << good;
        }
    }
    for (const std::string& good : {std::string("a.b"), std::string("1.2"), subdomain}) {
        EXPECT_TRUE(has_format(good, StringFormat::dns_subdomain)) << good;
        EXPECT_FALSE(has_format(good, StringFormat::dns_label)) << good;
    }
    for (const std::string& bad :
         {std::string(), std::string("A"), std::string("a_b"), std::string("-a"), std::string("a-"),
          std::string("a b"), std::string("a."), std::string(".a"), std::string("a..b"),
          std::string("\xC3\xA4"), std::string("a/b"), std::string("a\n"), subdomain + "a"}) {
        EXPECT_FALSE(has_format(bad, StringFormat::dns_label)) << bad;
        EXPECT_FALSE(has_format(bad, StringFormat::dns_subdomain)) << bad;
    }
    EXPECT_FALSE(has_format(label + 'a', StringFormat::dns_label));
}

TEST(SchemaFormats, LabelValues) {
    for (const char* good : {"", "v1.0_A", "A", "1", "a..b", "a__b"}) {
        EXPECT_TRUE(has_format(good, StringFormat::label_value)) << good;
    }
    for (const char* bad : {"a b", "_a", "a_", ".a", "a/b", "a,b", "100%", "\xC3\xA4", "a\n"}) {
        EXPECT_FALSE(has_format(bad, StringFormat::label_value)) << bad;
    }
    EXPECT_FALSE(has_format(std::string(64, 'a'), StringFormat::label_value));
}

TEST(SchemaFormats, LongStrings) {
    const std::string text = std::string().assign(10'000'000, '1');
    EXPECT_TRUE(has_format(text, StringFormat::quantity));
    EXPECT_TRUE(has_format(text, StringFormat::byte));
    EXPECT_FALSE(has_format(text, StringFormat::date_time));
}

}  // namespace edgegpu
