#include "resolve/explain/fixes_edit.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

using ::testing::ElementsAre;

TEST(FixesEdit, FileBecameShorterSinceItWasParsed) {
    const test::TemporaryDirectory directory;
    const std::string file = (directory.path() / "b.toml").string();
    write_file(file, "[[repositories]]\nid = \"a\"\nexcludepkgs = [\"x\", \"y\"]\n");
    BlueprintText text;
    EXPECT_THAT(
        edit_lines(text.remove_element({file, 9, 1}, "excludepkgs", "x")),
        ElementsAre(file + ":3", "- excludepkgs = [\"x\", \"y\"]", "+ excludepkgs = [\"y\"]"));
}

}  // namespace
}  // namespace edgegpu
