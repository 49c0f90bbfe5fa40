// What a user gets wrong, or what a hostile or broken repository offers: the real program has to
// end with the exit status and the exact message that tell what to do.

#include <gtest/gtest.h>

#include <fstream>

#include <sys/mount.h>
#include <unistd.h>

#include "commit/commit.hpp"
#include "support/commit_fixture.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::build_rpm;
using test::createrepo;
using test::simple_spec;

constexpr const char* kernel_rpm = "Packages/kernel-core-6.1.0-1.x86_64.rpm";

/// A spec's %install and %files for one file of `size` bytes that do not compress.
std::string content(const std::string& path, unsigned size = 64) {
    return "%install\nmkdir -p %{buildroot}" + fs::path(path).parent_path().string() +
           "\nhead -c " + std::to_string(size) + " /dev/urandom > %{buildroot}" + path +
           "\n%files\n" + path + "\n";
}

/// The smallest that passes for a kernel.
void add_kernel(const fs::path& repository) {
    build_rpm(repository, simple_spec("kernel-core", "6.1.0", "1", "",
                                      content("/usr/lib/modules/6.1.0-1.x86_64/vmlinuz")));
}

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

/// A tmpfs that goes with the object; `works` is false where mounting is not permitted.
class SmallDisk {
public:
    SmallDisk(fs::path path, const std::string& options, unsigned long flags = 0)
        : path_(std::move(path)) {
        fs::create_directories(path_);
        works_ = ::mount("tmpfs", path_.c_str(), "tmpfs", flags, options.c_str()) == 0;
    }
    ~SmallDisk() {
        if (works_) {
            ::umount2(path_.c_str(), MNT_DETACH);
        }
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    [[nodiscard]] bool works() const { return works_; }
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
    bool works_ = false;
};

class BadInput : public testing::Test {
protected:
    static void SetUpTestSuite() {
        store_ = new test::TemporaryDirectory;
        // The blueprints here name no distribution, and none of this machine is to be taken.
        ::setenv("EDGEGPU_HOST_ROOT", "/nonexistent", 1);
        key_ = new test::SigningKey("good@example.com");
        add_kernel(shared());
        createrepo(shared());
    }
    static void TearDownTestSuite() {
        delete key_;
        delete store_;
    }

    /// A repository with the kernel alone, whose packages are not signed.
    static fs::path shared() { return store_->path() / "shared"; }
    /// A copy of it that a test may add to.
    [[nodiscard]] fs::path own() const {
        const fs::path path = work_.path() / "own";
        if (!fs::exists(path)) {
            fs::copy(shared(), path, fs::copy_options::recursive);
        }
        return path;
    }
    static fs::path rpm_of(const fs::path& repository, const std::string& name) {
        return repository / "Packages" / (name + "-1-1.x86_64.rpm");
    }
    static const test::SigningKey& key() { return *key_; }

    /// The blueprint that takes `package` from `repository`; `keys` are lines of its table.
    void blueprint(const fs::path& repository, const std::string& package = "",
                   const std::string& keys = "gpgcheck = false\n") const {
        std::string text =
            "name = \"bad\"\nversion = \"1\"\narchitecture = \"x86_64\"\n"
            "[ostree]\nref = \"a/b\"\n"
            "[[repositories]]\nid = \"base\"\nbaseurl = \"file://" +
            repository.string() + "\"\nrepo_gpgcheck = false\n" + keys;
        if (!package.empty()) {
            text += "[[packages]]\nname = \"" + package + "\"\n";
        }
        write_file(blueprint_path(), text);
    }
    [[nodiscard]] fs::path blueprint_path() const { return work_.path() / "bad.toml"; }
    [[nodiscard]] fs::path repo() const { return work_.path() / "repo"; }

    /// Runs `edgegpu build`; everything it prints, the status in status_.
    std::string build(const fs::path& repo, const std::string& more = "") {
        return test::output_of(std::string(EDGEGPU_BINARY) + " --quiet --color never build " +
                                   blueprint_path().string() + " --repo " + repo.string() +
                                   " --cache-dir " + (work_.path() / "cache").string() +
                                   " --lock " + (work_.path() / "lock").string() + " " + more,
                               &status_);
    }
    std::string build() { return build(repo()); }

    /// The line of an error that says where the repository stands in the blueprint.
    [[nodiscard]] std::string defined() const {
        return "  repository defined at " + blueprint_path().string() + ":6:1\n";
    }
    /// The line of an error that says what was being done.
    [[nodiscard]] std::string during(const std::string& doing) const {
        return "  while " + doing + " " + blueprint_path().string() + "\n";
    }
    /// The error for a kernel that is not what the metadata of own() promise.
    [[nodiscard]] std::string mismatch(const fs::path& rpm) const {
        const fs::path promised = shared() / kernel_rpm;
        return fmt::format(
            "error: package kernel-core-6.1.0-1.x86_64: {} bytes with SHA-256 {}, but repository "
            "'base' promises {} bytes with {}\n  file {}\n{}hint: the file was truncated or "
            "changed "
            "after the repository's metadata were made; remove it if it is in the cache, or have "
            "the repository metadata regenerated\n",
            fs::file_size(rpm), sha256_file(rpm), fs::file_size(promised), sha256_file(promised),
            rpm.string(), during("fetching the packages of"));
    }

    test::TemporaryDirectory work_;
    int status_ = -1;

private:
    static test::TemporaryDirectory* store_;
    static test::SigningKey* key_;
};

test::TemporaryDirectory* BadInput::store_ = nullptr;
test::SigningKey* BadInput::key_ = nullptr;

// ---- the blueprint

TEST_F(BadInput, UnknownKey) {
    blueprint(shared(), "", "gpgchek = false\n");
    EXPECT_EQ(build(), "error: " + blueprint_path().string() +
                           ":10:1: unknown key \"repositories.gpgchek\"\n"
                           "hint: did you mean \"repositories.gpgcheck\"?\n");
    EXPECT_EQ(status_, 2);
    EXPECT_FALSE(fs::exists(repo()));
}

TEST_F(BadInput, WrongType) {
    blueprint(shared(), "", "gpgcheck = \"maybe\"\n");
    EXPECT_EQ(build(), "error: " + blueprint_path().string() +
                           ":10:12: \"repositories.gpgcheck\" must be a boolean, not a string\n");
    EXPECT_EQ(status_, 2);
}

TEST_F(BadInput, NoBlueprint) {
    EXPECT_EQ(build(), "error: " + blueprint_path().string() + ": No such file or directory\n");
    EXPECT_EQ(status_, 2);
}

// ---- repositories and signatures

TEST_F(BadInput, MissingRepository) {
    blueprint("/nowhere/at/all");
    EXPECT_EQ(build(),
              "error: repository 'base': cannot get repomd.xml\n  "
              "/nowhere/at/all/repodata/repomd.xml: cannot be read: No such file or directory\n" +
                  defined() + during("resolving") + "hint: check the URL of the repository\n");
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, UnsignedMetadata) {
    blueprint(shared(), "");
    std::string text = read_file(blueprint_path());
    const std::string off = "repo_gpgcheck = false\n";
    text.replace(text.find(off), off.size(), "gpgkey = \"" + key().public_key().string() + "\"\n");
    write_file(blueprint_path(), text);
    const std::string missing = (shared() / "repodata/repomd.xml.asc").string();
    EXPECT_EQ(
        build(),
        "error: repository 'base': its metadata is not signed: no repodata/repomd.xml.asc\n  " +
            missing + ": cannot be read: No such file or directory\n  from " +
            (shared() / "repodata/repomd.xml").string() + "\n" + defined() + during("resolving") +
            "hint: repo_gpgcheck = false accepts that; gpgcheck then still checks the "
            "signature of every package\n");
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, MissingKeyFile) {
    blueprint(shared(), "", "gpgkey = \"/nowhere/KEY\"\n");
    EXPECT_EQ(build(),
              "error: " + blueprint_path().string() + ":6:1: gpgkey not found: /nowhere/KEY\n");
    EXPECT_EQ(status_, 2);
}

TEST_F(BadInput, KeyThatIsNone) {
    write_file(work_.path() / "KEY", "hello\n");
    blueprint(shared(), "", "gpgkey = \"" + (work_.path() / "KEY").string() + "\"\n");
    EXPECT_EQ(build(), "error: gpgkey " + (work_.path() / "KEY").string() +
                           " of repository 'base': no OpenPGP public key (version 4) in it\n" +
                           during("fetching the packages of") +
                           "hint: give the public key: gpg --armor --export NAME\n");
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, UnsignedPackage) {
    blueprint(shared(), "", "gpgkey = \"" + key().public_key().string() + "\"\n");
    EXPECT_EQ(build(), "error: package kernel-core-6.1.0-1.x86_64 is not signed\n  file " +
                           (shared() / kernel_rpm).string() + "\n" +
                           during("fetching the packages of") +
                           "hint: sign it, or set gpgcheck = false for its repository\n");
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, WrongKey) {
    const test::SigningKey other("other@example.com");
    other.sign_packages(own());
    createrepo(own());
    blueprint(own(), "", "gpgkey = \"" + key().public_key().string() + "\"\n");
    const std::string text = build();
    EXPECT_TRUE(
        text.starts_with("error: package kernel-core-6.1.0-1.x86_64 was not signed with a key of "
                         "its repository\n  its signature: SHA-"))
        << text;
    EXPECT_TRUE(text.ends_with("\n  not by gpgkey " + key().public_key().string() +
                               " of repository 'base'\n" + during("fetching the packages of") +
                               "hint: check gpgkey of the repository\n"))
        << text;
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, DigestMismatch) {
    const fs::path rpm = own() / kernel_rpm;
    std::ofstream(rpm, std::ios::app) << "x";
    blueprint(own());
    EXPECT_EQ(build(), mismatch(rpm));
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, TruncatedSinceTheMetadataWereMade) {
    const fs::path rpm = own() / kernel_rpm;
    fs::resize_file(rpm, fs::file_size(rpm) - 10);
    blueprint(own());
    EXPECT_EQ(build(), mismatch(rpm));
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, TruncatedBeforeTheMetadataWereMade) {
    build_rpm(own(), simple_spec("big", "1", "1", "", content("/usr/lib/big", 300000)));
    key().sign_packages(own());
    const fs::path rpm = rpm_of(own(), "big");
    fs::resize_file(rpm, fs::file_size(rpm) - 200000);
    createrepo(own());
    blueprint(own(), "big", "gpgkey = \"" + key().public_key().string() + "\"\n");
    EXPECT_EQ(build(), "error: package big-1-1.x86_64: the file is truncated or damaged\n  file " +
                           rpm.string() + "\n" + during("fetching the packages of") +
                           "hint: this is the file that the repository has: report it to the "
                           "maintainer of the repository\n");
    EXPECT_EQ(status_, 4);
    blueprint(own(), "big");
    const std::string text = build();
    EXPECT_TRUE(
        text.starts_with("error: package big-1-1.x86_64: payload is truncated at /usr/lib/big\n"))
        << text;
    EXPECT_EQ(status_, 1);
}

// ---- hostile packages

TEST_F(BadInput, PathThatLeavesTheRoot) {
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

TEST_F(BadInput, LinkThatLeavesTheRoot) {
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

// ---- the set of packages

TEST_F(BadInput, UnsolvableSet) {
    build_rpm(own(), simple_spec("app", "1", "1", "Requires: nothing-has-this\n"));
    createrepo(own());
    blueprint(own(), "app");
    const std::string file = blueprint_path().string();
    EXPECT_EQ(build(),
              "error: nothing provides nothing-has-this, which app-1-1.x86_64 requires\n  " + file +
                  ":12:8 asks for app\n    app-1-1.x86_64 requires nothing-has-this\n"
                  "  while resolving " +
                  file +
                  "\nhint: this change makes the blueprint solvable (it was tried):\n"
                  "  1. gives 1 package, kernel 6.1.0-1\n     " +
                  file + ":11\n     - [[packages]]\n     - name = \"app\"\n");
    EXPECT_EQ(status_, 3);
}

TEST_F(BadInput, UnknownPackage) {
    blueprint(shared(), "kernel-cor");
    const std::string file = blueprint_path().string();
    EXPECT_EQ(build(),
              "error: no package matches 'kernel-cor'\n  requested at " + file +
                  ":12:8\n  did you mean kernel-core?\n  while resolving " + file +
                  "\nhint: any of these 2 changes makes the blueprint solvable (each was tried):\n"
                  "  1. gives 1 package, kernel 6.1.0-1\n     " +
                  file +
                  ":12\n     - name = \"kernel-cor\"\n     + name = \"kernel-core\"\n"
                  "  2. gives 1 package, kernel 6.1.0-1\n     " +
                  file + ":11\n     - [[packages]]\n     - name = \"kernel-cor\"\n");
    EXPECT_EQ(status_, 3);
}

TEST_F(BadInput, MissingKernel) {
    const fs::path repository = work_.path() / "empty";
    build_rpm(repository, simple_spec("app", "1", "1"));
    createrepo(repository);
    blueprint(repository, "app");
    EXPECT_EQ(build(),
              "error: no repository has a kernel: package kernel-core or kernel\n"
              "  while resolving " +
                  blueprint_path().string() +
                  "\nhint: an image needs a kernel: check the repositories and "
                  "customizations.kernel.name\n");
    EXPECT_EQ(status_, 3);
}

// ---- scriptlets

TEST_F(BadInput, FailingScriptlet) {
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

TEST_F(BadInput, ScriptletWithoutItsInterpreter) {
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

// ---- where the result goes

TEST_F(BadInput, FullDiskAtTheStart) {
    const SmallDisk disk(work_.path() / "disk", "size=16k,nr_inodes=4");
    if (!disk.works()) {
        GTEST_SKIP() << "mounting is not permitted here";
    }
    blueprint(shared());
    EXPECT_EQ(build(disk.path()), "error: " + disk.path().string() + ": no space left on device\n" +
                                      during("opening the repository for") +
                                      "hint: free some space and build "
                                      "again; the ref has not changed\n");
    EXPECT_EQ(status_, 1);
}

TEST_F(BadInput, ReadOnlyRepository) {
    const SmallDisk disk(work_.path() / "disk", "size=64k", MS_RDONLY);
    if (!disk.works()) {
        GTEST_SKIP() << "mounting is not permitted here";
    }
    blueprint(shared());
    const std::string message = ": cannot write to the repository: Read-only file system\n" +
                                during("opening the repository for") +
                                "hint: give a directory you may write to with --repo\n";
    EXPECT_EQ(build(disk.path()), "error: " + disk.path().string() + message);
    EXPECT_EQ(status_, 1);
    EXPECT_EQ(build(disk.path() / "new"), "error: " + (disk.path() / "new").string() + message);
    EXPECT_EQ(status_, 1);
}

TEST_F(BadInput, FileInPlaceOfTheRepository) {
    write_file(repo(), "a file\n");
    blueprint(shared());
    EXPECT_EQ(build(), "error: " + repo().string() +
                           ": cannot write to the repository: Not a directory\n" +
                           during("opening the repository for") +
                           "hint: give a directory you may write to with --repo\n");
    EXPECT_EQ(status_, 1);
    EXPECT_EQ(read_file(repo()), "a file\n");
}

TEST_F(BadInput, DirectoryThatIsNoRepository) {
    make_directories(repo());
    write_file(repo() / "precious", "a file\n");
    blueprint(shared());
    EXPECT_EQ(
        build(),
        "error: " + repo().string() + ": not an ostree repository, and not empty\n" +
            during("opening the repository for") +
            "hint: give an empty or absent directory, or an archive repository, with --repo\n");
    EXPECT_EQ(status_, 1);
}

TEST_F(BadInput, TwoBuildsOnOneRef) {
    Console console(Color::never, true);
    Context ctx;
    ctx.console = &console;
    ctx.cache = work_.path() / "cache";
    const Repo held(ctx, repo(), "a/b");
    blueprint(shared());
    EXPECT_EQ(build(), "error: " + repo().string() + ": another build (pid " +
                           std::to_string(::getpid()) + ") is writing ref a/b\n" +
                           during("opening the repository for") +
                           "hint: wait for it to end, or build into another "
                           "repository with --repo\n");
    EXPECT_EQ(status_, 1);
}

}  // namespace
}  // namespace edgegpu
