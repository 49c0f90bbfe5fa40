#include "support/text/enum_names.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "blueprint/choices.hpp"

namespace edgegpu::test {
namespace {

static_assert(value_named<DriverFlavor>("open") == DriverFlavor::open);
static_assert(!value_named<DriverFlavor>("Open"));
static_assert(!value_named<DriverFlavor>(""));

TEST(EnumNames, EveryValueIsFoundByItsName) {
    std::vector<UnitState> values;
    each_value<UnitState>([&](UnitState value) {
        values.push_back(value);
        EXPECT_EQ(value_named<UnitState>(enum_name(value)), value);
    });
    EXPECT_EQ(values, (std::vector{UnitState::enabled, UnitState::disabled, UnitState::masked,
                                   UnitState::preset}));
}

TEST(EnumNames, MessagesListAndFormatThem) {
    EXPECT_EQ(expected_names<DriverModules>(), R"("auto", "precompiled", "dkms")");
    EXPECT_EQ(fmt::format("{:>6}", DriverModules::dkms), "  dkms");
}

TEST(KernelChoice, IsAPolicyOrAGlob) {
    EXPECT_EQ(KernelChoice::parse("newest").policy, KernelPolicy::newest);
    EXPECT_EQ(KernelChoice::parse("newest-supported"), KernelChoice{});
    EXPECT_EQ(KernelChoice::parse(""), KernelChoice{});
    for (const char* glob : {"newest*", "matching", "5.14.0-427*"}) {
        EXPECT_EQ(KernelChoice::parse(glob), (KernelChoice{KernelPolicy::matching, glob}));
        EXPECT_EQ(KernelChoice::parse(glob).text(), glob);
    }
}

}  // namespace
}  // namespace edgegpu::test
