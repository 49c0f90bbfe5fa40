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

TEST(Capabilities, AllAreThoseOfThisProgramNotOfTheKernel) {
    const std::string all =
        bytes({1, 0, 0, 2, 255, 255, 255, 255, 0, 0, 0, 0, 255, 1, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(parse_capabilities("=ep"), all);
    EXPECT_EQ(parse_capabilities("all=ep"), all);
    EXPECT_EQ(
        parse_capabilities("=pi cap_kill-pi"),
        bytes({0, 0, 0, 2, 0xdf, 255, 255, 255, 0xdf, 255, 255, 255, 255, 1, 0, 0, 255, 1, 0, 0}));
}

TEST(Capabilities, ClausesAreReadInTheirOrder) {
    EXPECT_EQ(parse_capabilities("CAP_KILL=eip cap_kill-i+i cap_kill=p"),
              parse_capabilities("cap_kill=p"));
    EXPECT_EQ(parse_capabilities("cap_chown,cap_kill=p cap_kill-p"),
              parse_capabilities("cap_chown=p"));
}

TEST(Capabilities, NoneIsEmpty) {
    EXPECT_EQ(parse_capabilities(""), "");
    EXPECT_EQ(parse_capabilities("="), "");
}

TEST(Capabilities, UnknownNameIsAnError) {
    EXPECT_THROW(static_cast<void>(parse_capabilities("cap_everything=ep")), Error);
    EXPECT_THROW(static_cast<void>(parse_capabilities("cap_kill")), Error);
    EXPECT_THROW(static_cast<void>(parse_capabilities("cap_kill=x")), Error);
    EXPECT_THROW(static_cast<void>(parse_capabilities("cap_kill,=p")), Error);
}

}  // namespace
}  // namespace edgegpu
