#include "blueprint/parse/test_request.hpp"

#include <gtest/gtest.h>

#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

class TestRequestTest : public BlueprintTest {
protected:
    [[nodiscard]] std::optional<TestRequest> load(std::string_view text) const {
        put("b.toml", text);
        return load_test_request(directory_ / "b.toml");
    }
};

TEST_F(TestRequestTest, NothingElseOfTheBlueprintIsReadOrNeeded) {
    const std::optional<TestRequest> test = load(
        "[[repositories]]\nid = 7\n[[overlays]]\nsource = \"gone\"\n[[test.checks]]\n"
        "name = \"a\"\nscript = \"true\"\n");
    ASSERT_TRUE(test);
    ASSERT_EQ(test->checks.size(), 1U);
    EXPECT_EQ(test->checks[0].script, "true");
}

TEST_F(TestRequestTest, ABlueprintWithoutItHasNone) {
    EXPECT_FALSE(load("name = \"a\"\n"));
    ASSERT_TRUE(load("[test]\n"));
    EXPECT_TRUE(load("[test]\n")->checks.empty());
}

TEST_F(TestRequestTest, MistakesAndFilesThatAreNotThereAreUsageErrors) {
    for (const char* text : {"[[test.checks]]\nname = \"a\"\npath = \"none\"\n", "test = 1\n",
                             "[test\n", "[[test.allow_denials]]\nsource = \"a\"\n"}) {
        try {
            (void)load(text);
            FAIL() << text;
        } catch (const Error& failure) {
            EXPECT_EQ(failure.kind(), ErrorKind::usage) << text;
            EXPECT_NE(failure.message().find("b.toml:"), std::string::npos) << failure.message();
        }
    }
    EXPECT_THROW((void)load_test_request(directory_ / "none.toml"), Error);
}

}  // namespace
}  // namespace edgegpu
