#include "gpu/modalias.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Modalias, ACardIsOneWithADisplayAndA3dController) {
    EXPECT_THAT(card_aliases("10de:20b7"),
                ElementsAre("pci:v000010DEd000020B7sv000010DEsd00000000bc03sc00i00",
                            "pci:v000010DEd000020B7sv000010DEsd00000000bc03sc02i00"));
    EXPECT_THAT(card_aliases("10de"), IsEmpty());
    EXPECT_THAT(card_aliases("10de:"), IsEmpty());
    EXPECT_THAT(card_aliases("10de:20b7x"), IsEmpty());
}

TEST(Modalias, PatternsAreThoseOfFnmatch) {
    const std::vector<std::string> aliases = card_aliases("10de:20b7");
    for (const char* pattern :
         {"pci:v000010DEd000020B7sv*sd*bc03sc0[02]i00*", "pci:v000010DEd000020B7sv*sd*bc03sc02i00*",
          "pci:v000010DEd000020B7sv*sd*bc03sc00i00*", "pci:v000010DEd*sv*sd*bc03sc02i00*",
          "pci:v000010DEd000020B?sv*sd*bc*sc*i*", "pci:v000010DEd000020[A-C]7*",
          "pci:v000010DEd000020B7sv%2Asd*", "pci:v000010DEd000020B7*sc0[0%2C2]i00*"}) {
        EXPECT_TRUE(matches_alias(pattern, aliases)) << pattern;
    }
    for (const char* pattern :
         {"", "pci:v000010DEd000020B8sv*sd*bc03sc0[02]i00*", "pci:v000010ded000020b7sv*sd*bc03*",
          "pci:v000010DEd000020B7sv*sd*bc03sc02", "v000010DEd000020B7*",
          "pci:v000010DEd000020B7%ZZ", "pci:v000010DEd000020B7sv000010DEsd00001533bc03sc02i00",
          "pci:%", "pci:%2"}) {
        EXPECT_FALSE(matches_alias(pattern, aliases)) << pattern;
    }
    EXPECT_FALSE(matches_alias("*", {}));
}

}  // namespace
}  // namespace edgegpu
