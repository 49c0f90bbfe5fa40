#include <gtest/gtest.h>

#include "image/capabilities.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string bytes(std::initializer_list<unsigned> values) {
    std::string text;
    for (const unsigned value : values) {
        text += static_cast<char>(value);
    }
    return text;
}

TEST(Capabilities, EffectiveAndPermitted) {
    // What setcap cap_net_raw=ep writes: revision 2 with the effective bit, bit 13.
    EXPECT_EQ(parse_capabilities("cap_net_raw=ep"),
              bytes({1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Capabilities, SeveralNamesClausesAndHighNumbers) {
    EXPECT_EQ(parse_capabilities("cap_chown,cap_bpf=p cap_kill+i"),
              bytes({0, 0, 0, 2, 1, 0, 0, 0, 0x20, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Capabilities, NoneIsEmpty) {
    EXPECT_EQ(parse_capabilities(""), "");
    EXPECT_EQ(parse_capabilities("="), "");
}

TEST(Capabilities, UnknownNameIsAnError) {
    EXPECT_THROW(static_cast<void>(parse_capabilities("cap_everything=ep")), Error);
    EXPECT_THROW(static_cast<void>(parse_capabilities("cap_kill")), Error);
}

}  // namespace
}  // namespace edgegpu
