// Packages that are hostile, or whose scriptlets fail: the program has to end with the exit status
// and the exact message that say what to do.

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "integration/bad_input_fixture.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::build_rpm;
using test::createrepo;
using test::simple_spec;

/// A shell with the libraries it needs, so that scriptlets can run.
void add_shell(const fs::path& repository) {
    build_rpm(repository,
              simple_spec("shell", "1", "1", "AutoReqProv: no\nProvides: /bin/sh\n",
                          "%install\nmkdir -p %{buildroot}/usr/bin %{buildroot}/usr/lib\n"
                          "cp /bin/dash %{buildroot}/usr/bin/sh\n"
                          "cp /lib/x86_64-linux-gnu/libc.so.6 %{buildroot}/usr/lib/\n"
                          "cp /lib64/ld-linux-x86-64.so.2 %{buildroot}/usr/lib/\n"
                          "ln -s usr/bin %{buildroot}/bin\n"
                          "ln -s usr/lib %{buildroot}/lib64\n"
                          "ln -s usr/lib %{buildroot}/lib\n"
                          "%files\n/bin\n/lib\n/lib64\n/usr/bin/sh\n/usr/lib/*\n"));
}

/// Replaces bytes of a file by as many others.
void patch(const fs::path& file, const std::string& from, const std::string& to) {
    ASSERT_EQ(from.size(), to.size());
    std::string bytes = read_file(file);
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    write_file(file, bytes.replace(at, from.size(), to));
}

class BadPackage : public test::BadInput {};

TEST_F(BadPackage, PathThatLeavesTheRoot) {
    build_rpm(own(), simple_spec("evil", "1", "1", "", content("/usr/evildir/secret")));
    patch(rpm_of(own(), "evil"), "/usr/evildir/", "/../evildirs/");
    createrepo(own());
    blueprint(own(), "evil");
    EXPECT_EQ(build(),
              "error: package evil-1-1.x86_64: /../evildirs/secret leaves the root (\"..\")\n" +
                  during("composing") +
                  "hint: the package is corrupt or malicious; nothing of it was installed\n");
    EXPECT_EQ(status_, 1);
    EXPECT_FALSE(fs::exists(work_.path() / "cache/evildirs"));
    EXPECT_FALSE(fs::exists("/evildirs"));
}

TEST_F(BadPackage, LinkThatLeavesTheRoot) {
    const fs::path outside = work_.path() / "outside";
    fs::create_directories(outside);
    for (const std::string& target :
         {outside.string(), "../../../../../../../../../../.." + outside.string()}) {
        const fs::path repository = own();
        build_rpm(repository,
                  simple_spec("link", "1", "1", "",
                              "%install\nmkdir -p %{buildroot}/usr/lib\nln -s " + target +
                                  " %{buildroot}/usr/lib/way\n"
                                  "%files\n/usr/lib/way\n"));
        build_rpm(repository, simple_spec("evil", "1", "1", "Requires: link\n",
                                          content("/usr/lib/way/secret")));
        createrepo(repository);
        blueprint(repository, "evil");
        // The link leads to a place in the image, where the set then lacks the rest of a system.
        const std::string text = build();
        EXPECT_TRUE(text.starts_with("error: cannot run 'depmod' in the image")) << text;
        EXPECT_TRUE(
            fs::exists(work_.path() / "cache/work/0/lower" / outside.relative_path() / "secret"))
            << target;
        EXPECT_EQ(status_, 1);
        EXPECT_TRUE(fs::is_empty(outside)) << target;
    }
}

TEST_F(BadPackage, FailingScriptlet) {
    add_shell(own());
    build_rpm(own(), simple_spec("failing", "1", "1", "",
                                 "%post\necho starting\necho 'out of cheese' >&2\nexit 3\n"
                                 "%files\n"));
    createrepo(own());
    blueprint(own(), "failing");
    EXPECT_EQ(
        build(),
        "error: package failing-1-1.x86_64: %post failed with exit status 3\n  starting\n  "
        "out of cheese\n" +
            during("composing") +
            "hint: the scriptlet ran inside the image, without network and "
            "without a running system; leave the package out, or report this to its maintainer\n");
    EXPECT_EQ(status_, 1);
}

TEST_F(BadPackage, ScriptletWithoutItsInterpreter) {
    build_rpm(own(),
              simple_spec("failing", "1", "1", "AutoReqProv: no\nProvides: /usr/bin/absent\n",
                          "%post -p /usr/bin/absent\nx\n%files\n"));
    createrepo(own());
    blueprint(own(), "failing");
    EXPECT_EQ(
        build(),
        "error: package failing-1-1.x86_64: the interpreter /usr/bin/absent of its %post is not in "
        "the image\n" +
            during("composing") +
            "hint: add the package that provides /usr/bin/absent to the blueprint\n");
    EXPECT_EQ(status_, 1);
}

}  // namespace
}  // namespace edgegpu
