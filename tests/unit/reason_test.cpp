#include "resolve/reason.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/text/enum_names.hpp"

namespace edgegpu {
namespace {

using Kind = Reason::Kind;

TEST(ReasonTest, TextForTheUser) {
    EXPECT_EQ((Reason{Kind::requested}.text()), "requested");
    EXPECT_EQ((Reason{Kind::required_by, "bash"}.text()), "required by bash");
    EXPECT_EQ((Reason{Kind::required_by, "{}"}.text()), "required by {}");
    EXPECT_EQ((Reason{Kind::driver, "535"}.text()), "nvidia driver 535");
    EXPECT_EQ((Reason{Kind::profile, "nvidia-driver", "535", "ks"}.text()),
              "profile nvidia-driver:535/ks");
    EXPECT_EQ((Reason{Kind::unknown, "its words"}.text()), "its words");
    EXPECT_EQ(Reason{}.text(), "");
}

TEST(ReasonTest, KindsThatNoLockfileHasComeLast) {
    for (int i = 0; i <= static_cast<int>(Kind::asked_about); ++i) {
        const auto kind = static_cast<Kind>(i);
        EXPECT_EQ(enum_name(kind).empty(), kind >= Kind::compiled) << i;
        // Each has a text that says all of its fields.
        Reason reason{kind};
        for (const ReasonField& field : reason_fields(kind)) {
            reason.*field.value = std::string("the ") + field.key;
        }
        const std::string text = reason.text();
        EXPECT_FALSE(text.empty()) << i;
        for (const ReasonField& field : reason_fields(kind)) {
            EXPECT_NE(text.find(std::string("the ") + field.key), std::string::npos) << text;
        }
    }
}

TEST(ReasonTest, EveryKindHasItsOwnName) {
    each_value<Kind>([](Kind kind) { EXPECT_EQ(value_named<Kind>(enum_name(kind)), kind); });
    EXPECT_FALSE(value_named<Kind>(""));
    EXPECT_FALSE(value_named<Kind>("required by"));
    EXPECT_FALSE(value_named<Kind>("compiled here"));
}

TEST(ReasonTest, WordsOfFormat1) {
    EXPECT_EQ(reason_in_words("weak dependency"), Reason{Kind::weak_dependency});
    EXPECT_EQ(reason_in_words("kernel"), Reason{Kind::kernel});
    // Names are not taken out of words: a package may be called anything.
    const Reason named = reason_in_words("required by recommended by x");
    EXPECT_EQ(named, (Reason{Kind::unknown, "required by recommended by x"}));
    EXPECT_EQ(named.text(), "required by recommended by x");
    EXPECT_FALSE(reason_in_words("recommended by x").is_weak());
    EXPECT_EQ(reason_in_words("compiled here").kind, Kind::unknown);
    EXPECT_EQ(reason_in_words("").kind, Kind::unknown);
}

}  // namespace
}  // namespace edgegpu
