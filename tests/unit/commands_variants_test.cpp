#include <fmt/format.h>
#include <gtest/gtest.h>

#include "commands/build/variants.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

class Variants : public ::testing::Test {
protected:
    void add(const std::string& file, const std::string& ref, const std::string& rest = "") {
        const std::filesystem::path path = directory_.path() / file;
        make_directories(path.parent_path());
        write_file(path, fmt::format(
                             "name = \"x\"\ndistro = \"lab-12\"\n{}\n[ostree]\nref = \"{}\"\n"
                             "[[repositories]]\nid = \"r\"\nbaseurl = \"/r\"\n"
                             "gpgcheck = false\nrepo_gpgcheck = false\n[[packages]]\nname = \"p\"\n"
                             "[accounts]\nlogin = \"none\"\n",
                             rest, ref));
        command_.blueprints.push_back(path);
    }
    [[nodiscard]] std::string failure() const {
        try {
            static_cast<void>(read_variants(command_));
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.render();
        }
        return "";
    }
    test::TemporaryDirectory directory_;
    BuildCommand command_;
};

TEST_F(Variants, NamesAndRefsAreTheBlueprints) {
    add("a.toml", "edge/a");
    add("dir/b.site.toml", "edge/b");
    const std::vector<Variant> variants = read_variants(command_);
    ASSERT_EQ(variants.size(), 2U) << failure();
    EXPECT_EQ(variants[0].name, "a");
    EXPECT_EQ(variants[0].ref, "edge/a");
    EXPECT_EQ(variants[1].name, "b.site");
}

TEST_F(Variants, OneRefTwiceIsAnError) {
    add("a.toml", "edge/a");
    add("b.toml", "edge/b");
    add("c.toml", "edge/a");
    EXPECT_NE(failure().find("a.toml and "), std::string::npos) << failure();
    EXPECT_NE(failure().find("c.toml have the same ref, edge/a"), std::string::npos) << failure();
}

TEST_F(Variants, OneNameTwiceIsAnError) {
    add("a.toml", "edge/a");
    add("dir/a.toml", "edge/b");
    EXPECT_NE(failure().find("have the same name, a"), std::string::npos) << failure();
}

TEST_F(Variants, AllMistakesAreSaidAtOnce) {
    add("a.toml", "edge/a", "colour = 1");
    add("b.toml", "edge/b");
    add("c.toml", "edge/c", "taste = 1");
    EXPECT_NE(failure().find("colour"), std::string::npos) << failure();
    EXPECT_NE(failure().find("taste"), std::string::npos) << failure();
}

TEST_F(Variants, OneLockfileForAllIsAnError) {
    add("a.toml", "edge/a");
    add("b.toml", "edge/b");
    command_.lockfile = "x.lock";
    EXPECT_NE(failure().find("--lock names a single lockfile for 2 blueprints"), std::string::npos);
}

TEST_F(Variants, EachIsToldWhatAllWereTold) {
    command_.given = {"--repo=a repo", "--offline"};
    const std::vector<std::string> expected{
        "edgegpu", "build",         "--repo=a repo", "--offline", "--json", "--quiet", "--color",
        "never",   "--progress-fd", "@progress",     "--jobs",    "3",      "--",      "-odd.toml"};
    EXPECT_EQ(build_arguments(command_, {"-odd.toml", "-odd", "edge/odd"}, 3), expected);
}

}  // namespace
}  // namespace edgegpu
