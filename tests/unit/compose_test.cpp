#include <gtest/gtest.h>
#include <unistd.h>

#include "compose_fixture.hpp"
#include "image/account_files.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::ComposeFixture;
using test::error_message;

/// A package with a shell and what it needs, from this machine.
constexpr const char* shell_spec = R"(%global __requires_exclude .*
%install
mkdir -p %{buildroot}/usr/bin %{buildroot}/usr/lib64 %{buildroot}/etc %{buildroot}/usr/lib
for f in $(ldd /bin/dash /bin/chmod /bin/mkdir /bin/rm | grep -o '/[^ ]*' | grep -v : | sort -u); do
    mkdir -p %{buildroot}/usr/$(dirname $f)
    cp -L $f %{buildroot}/usr/$f
done
cp /bin/dash %{buildroot}/usr/bin/sh
cp /bin/chmod /bin/mkdir /bin/rm %{buildroot}/usr/bin/
rm -rf %{buildroot}/usr/usr
for f in $(ldd /bin/dash /bin/chmod /bin/mkdir /bin/rm | grep -o '/[^ ]*' | grep -v : | sort -u); do
    mkdir -p %{buildroot}$(dirname $(readlink -f $f))
    cp -L $f %{buildroot}$(dirname $(readlink -f $f))/$(basename $f)
done
rm -rf %{buildroot}/usr/lib64
mkdir -p %{buildroot}/usr/lib64
cp -L /lib64/ld-linux-x86-64.so.2 %{buildroot}/usr/lib64/
ln -s usr/bin %{buildroot}/bin
ln -s usr/lib %{buildroot}/lib
ln -s usr/lib64 %{buildroot}/lib64
printf 'root:x:0:0::/root:/bin/sh\n' > %{buildroot}/etc/passwd
printf 'root:x:0:\n' > %{buildroot}/etc/group
%files
/bin
/lib
/lib64
/usr
/etc
)";

class ComposeTest : public ::testing::Test {
protected:
    void SetUp() override { shell_ = fixture_.build("shell", shell_spec, "AutoReqProv: no\n"); }

    /// Composes the shell and one more package; the mount is gone afterwards.
    Tree compose_with(const PackageFile& package, const ParentAccounts& parent = {}) {
        ComposedTree composed = compose(fixture_.context, "6.1.0-test", {shell_, package}, parent);
        return std::move(composed.tree);
    }

    ComposeFixture fixture_;
    PackageFile shell_;
};

constexpr const char* app_header = "AutoReqProv: no\nRequires: shell\n";

TEST_F(ComposeTest, ScriptletsSeeTheImageAndTheirChangesArriveInTheTree) {
    const PackageFile app = fixture_.build("app", R"(%install
mkdir -p %{buildroot}/usr/share/app
echo one > %{buildroot}/usr/share/app/setuid
echo two > %{buildroot}/usr/share/app/removed
%pre
echo 'app:x:123:124::/:/bin/sh' >> /etc/passwd
echo 'app:x:124:' >> /etc/group
%post
echo "$1 $SOURCE_DATE_EPOCH" > /usr/share/app/made
chmod 600 /usr/share/app/made
rm /usr/share/app/removed
%files
%attr(4750,root,app) /usr/share/app/setuid
/usr/share/app/removed
)",
                                           app_header);
    const Tree tree = compose_with(app);
    EXPECT_EQ(read_entry(tree, "/usr/share/app/made"), "1 1700000000\n");
    EXPECT_EQ(tree.entries.at("/usr/share/app/made").mode, 0600U);
    EXPECT_FALSE(tree.entries.contains("/usr/share/app/removed"));
    EXPECT_EQ(tree.entries.at("/usr/share/app/setuid").mode, 04750U);
    EXPECT_EQ(tree.entries.at("/usr/share/app/setuid").gid, 124U);
    EXPECT_EQ(tree.entries.at("/var/lib/rpm").target, "../../usr/share/rpm");
    ASSERT_EQ(tree.packages.size(), 2U);
    EXPECT_EQ(tree.packages[0].name, "shell");

    // The cached composition is the same tree, database included.
    const Tree again = compose_with(app);
    ASSERT_EQ(again.entries.size(), tree.entries.size());
    for (const auto& [path, entry] : tree.entries) {
        const Entry& other = again.entries.at(path);
        EXPECT_EQ(other.digest, entry.digest) << path;
        EXPECT_EQ(other.mode, entry.mode) << path;
        EXPECT_EQ(other.gid, entry.gid) << path;
    }
}

TEST_F(ComposeTest, SystemAccountsKeepTheParentsNumbersAndNewOnesGetOthers) {
    // 'fresh' comes first, and would take the highest number, which is 'known's.
    const PackageFile app = fixture_.build("app", R"(%install
mkdir -p %{buildroot}/usr/sbin
for tool in useradd groupadd; do
    printf '#!/bin/sh\necho $0 "$@" >>/usr/made\n' > %{buildroot}/usr/sbin/$tool
done
%post
useradd -r fresh
useradd -r -M known
useradd -r -u 7 -g 8 own
groupadd -r fresh
groupadd known
useradd ordinary
%files
%attr(755,root,root) /usr/sbin/useradd
%attr(755,root,root) /usr/sbin/groupadd
)",
                                           app_header);
    const ParentAccounts parent{"known:x:999:998::/:/bin/sh\n", "known:x:998:\n"};
    EXPECT_EQ(read_entry(compose_with(app, parent), "/usr/made"),
              "/run/edgegpu/real/useradd -u 997 -r fresh\n"
              "/run/edgegpu/real/groupadd -r -g 998 known\n"
              "/run/edgegpu/real/useradd -g known -u 999 -r -M known\n"
              "/run/edgegpu/real/useradd -r -u 7 -g 8 own\n"
              "/run/edgegpu/real/groupadd -g 997 -r fresh\n"
              "/run/edgegpu/real/groupadd -g 998 known\n"
              "/run/edgegpu/real/useradd ordinary\n");
}

TEST_F(ComposeTest, KernelArgumentsThatScriptletsAskGrubbyForAreKept) {
    const PackageFile app = fixture_.build("app", R"(%install
mkdir -p %{buildroot}/usr/sbin
printf '#!/bin/sh\nexit 1\n' > %{buildroot}/usr/sbin/grubby
%post
/usr/sbin/grubby --update-kernel=ALL --args='quiet mitigations=off' --remove-args=nomodeset
%files
%attr(755,root,root) /usr/sbin/grubby
)",
                                           app_header);
    const std::vector<std::string> expected{"quiet", "mitigations=off"};
    EXPECT_EQ(compose_with(app).kernel_arguments, expected);
    EXPECT_EQ(compose_with(app).kernel_arguments, expected) << "from the cache";
}

TEST_F(ComposeTest, WhatScriptletsLeaveBehindIsRemovedAndWhatPackagesContainStays) {
    const PackageFile app = fixture_.build("app", R"(%install
mkdir -p %{buildroot}/usr/share/app/__pycache__ %{buildroot}/var/cache/ldconfig
echo packaged > %{buildroot}/usr/share/app/__pycache__/a.cpython-311.pyc
echo packaged > %{buildroot}/usr/share/app/__pycache__/b.cpython-311.pyc
%post
cd /usr/share/app/__pycache__
echo written > b.cpython-311.pyc
echo written > c.cpython-311.pyc
echo written > note
echo old > /etc/passwd-
echo cache > /var/cache/ldconfig/aux-cache
mkdir -p /var/lib/systemd/catalog
echo cache > /var/lib/systemd/catalog/database
echo 1234 > /etc/machine-id
%files
/usr/share/app
%attr(700,root,root) /var/cache/ldconfig
)",
                                           app_header);
    for (const char* source : {"made", "from the cache"}) {
        const Tree tree = compose_with(app);
        const std::string directory = "/usr/share/app/__pycache__/";
        EXPECT_EQ(read_entry(tree, directory + "a.cpython-311.pyc"), "packaged\n") << source;
        EXPECT_EQ(read_entry(tree, directory + "b.cpython-311.pyc"), "packaged\n") << source;
        EXPECT_EQ(read_entry(tree, directory + "note"), "written\n") << source;
        EXPECT_EQ(read_entry(tree, "/etc/machine-id"), "") << source;
        EXPECT_TRUE(tree.entries.contains("/var/cache/ldconfig")) << source;
        for (const std::string& gone :
             {directory + "c.cpython-311.pyc", std::string("/etc/passwd-"),
              std::string("/var/cache/ldconfig/aux-cache"),
              std::string("/var/lib/systemd/catalog")}) {
            EXPECT_FALSE(tree.entries.contains(gone)) << gone << ' ' << source;
        }
    }
}

TEST_F(ComposeTest, ADamagedCompositionIsMadeAgain) {
    const PackageFile app =
        fixture_.build("app", "%post\necho made > /usr/made\n%files\n", app_header);
    const Tree tree = compose_with(app);
    const auto kept_file = [&] {
        std::optional<fs::path> found;
        // Beside the result lie the records of its accounts.
        for (const fs::directory_entry& kept :
             fs::directory_iterator(fixture_.context.cache / "composed")) {
            if (fs::exists(kept.path() / "upper")) {
                EXPECT_FALSE(found) << kept.path();
                found = kept.path() / "upper/usr/made";
            }
        }
        return found.value();
    };
    write_file(kept_file(), "");
    EXPECT_EQ(read_entry(compose_with(app), "/usr/made"), "made\n");
    // And now it is kept whole.
    EXPECT_EQ(read_file(kept_file()), "made\n");
}

TEST_F(ComposeTest, TheDatabaseIsTheSameInEveryBuild) {
    const PackageFile app = fixture_.build("app", "%post\n:\n%files\n", app_header);
    const std::string first = compose_with(app).entries.at("/usr/share/rpm/rpmdb.sqlite").digest;
    fs::remove_all(fixture_.context.cache / "composed");
    EXPECT_EQ(compose_with(app).entries.at("/usr/share/rpm/rpmdb.sqlite").digest, first);
}

/// A package with an rpm that answers what it is asked for its database, and for what is in it.
std::string rpm_that_answers(const std::string& database, const std::string& list) {
    return R"(%install
mkdir -p %{buildroot}/usr/bin
cat > %{buildroot}/usr/bin/rpm <<'END'
#!/bin/sh
case $1 in
--eval) )" +
           database + R"(;;
-qa) )" + list +
           R"(;;
esac
END
%files
%attr(755,root,root) /usr/bin/rpm
)";
}

TEST_F(ComposeTest, AnRpmWithoutAProgramThatWritesItsDatabaseIsAnError) {
    const PackageFile rpm =
        fixture_.build("rpm", rpm_that_answers("echo edgegpu:bdb:/var/lib/rpm", ":"), app_header);
    EXPECT_EQ(error_message([&] { compose_with(rpm); }),
              "the image's rpm keeps its packages in bdb, and the image has no /usr/bin/rpmdb to "
              "write it");
}

TEST_F(ComposeTest, AnRpmThatCannotRunIsAnError) {
    const PackageFile rpm = fixture_.build(
        "rpm", rpm_that_answers("echo librpm.so.8: cannot open >&2; exit 127", ":"), app_header);
    EXPECT_EQ(error_message([&] { compose_with(rpm); }),
              "rpm --eval edgegpu:%{?_db_backend}:%{_dbpath} of the image failed with exit status "
              "127");
}

TEST_F(ComposeTest, WhatTheImagesRpmReadsIsCompared) {
    const PackageFile rpm =
        fixture_.build("rpm",
                       rpm_that_answers("echo edgegpu:sqlite:/usr/share/rpm",
                                        "echo warning: old; echo edgegpu:shell-0:1-1.x86_64"),
                       app_header);
    EXPECT_EQ(error_message([&] { compose_with(rpm); }),
              "the image's rpm lists 1 packages instead of 2 from the database in /usr/share/rpm");
}

TEST_F(ComposeTest, AnRpmThatLooksElsewhereIsPointedToTheDatabase) {
    const std::string list = "echo edgegpu:shell-0:1-1.x86_64; echo edgegpu:rpm-0:1-1.x86_64";
    const PackageFile rpm = fixture_.build(
        "rpm", rpm_that_answers("echo edgegpu:sqlite:/var/lib/rpm", list), app_header);
    EXPECT_EQ(read_entry(compose_with(rpm), "/usr/lib/rpm/macros.d/macros.rpm-ostree"),
              "%_dbpath /usr/share/rpm\n");
}

TEST_F(ComposeTest, AFailingScriptletIsNamedWithItsOutput) {
    const PackageFile app =
        fixture_.build("app", "%post\necho something is wrong\nexit 7\n%files\n", app_header);
    try {
        compose_with(app);
        FAIL() << "no error";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(), "package app-1-1.x86_64: %post failed with exit status 7");
        EXPECT_EQ(problem.traces(), std::vector<std::string>{"something is wrong"});
    }
}

TEST_F(ComposeTest, AMissingInterpreterIsNamed) {
    const PackageFile app =
        fixture_.build("app", "%post -p /usr/bin/perl\nprint 1\n%files\n", app_header);
    EXPECT_EQ(error_message([&] { compose_with(app); }),
              "package app-1-1.x86_64: the interpreter /usr/bin/perl of its %post is not in the "
              "image");
}

TEST_F(ComposeTest, PolicyCallsAreRecordedAndTheirTemporaryFilesKept) {
    const PackageFile app = fixture_.build("app", R"(%install
mkdir -p %{buildroot}/usr/sbin
printf '#!/bin/sh\necho real > /usr/real\n' > %{buildroot}/usr/sbin/semodule
%post
export PATH=$PATH:/usr/sbin
echo module > /tmp/x.pp
semodule -n -i /tmp/x.pp
%files
%attr(0755,root,root) /usr/sbin/semodule
)",
                                           app_header);
    // The shim needs ls, wc and cat to keep a file.
    const PackageFile tools = fixture_.build("tools", R"(%install
mkdir -p %{buildroot}/usr/bin
cp /bin/ls /usr/bin/wc /bin/cat %{buildroot}/usr/bin
for f in $(ldd /bin/ls | grep -o '/[^ ]*' | grep -v : | grep -v 'libc.so\|ld-linux' | sort -u); do
    mkdir -p %{buildroot}$(dirname $(readlink -f $f))
    cp -L $f %{buildroot}$(dirname $(readlink -f $f))/$(basename $f)
done
%files
/usr
)",
                                             "AutoReqProv: no\n");
    const Tree tree =
        compose(fixture_.context, "6.1.0-test", {shell_, app, tools}, ParentAccounts{}).tree;
    EXPECT_EQ(tree.policy_calls, (std::vector<std::vector<std::string>>{
                                     {"semodule", "-n", "-i", "/usr/lib/edgegpu-replay/0-x.pp"}}));
    EXPECT_EQ(read_entry(tree, "/usr/lib/edgegpu-replay/0-x.pp"), "module\n");
    EXPECT_FALSE(tree.entries.contains("/usr/real"));
}

}  // namespace
}  // namespace edgegpu
