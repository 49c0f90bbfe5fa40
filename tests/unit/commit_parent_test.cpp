#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/commit_fixture.hpp"
#include "commit/metadata.hpp"
#include "commit/object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::UnorderedElementsAre;

/// A repository with commits that edgegpu did not make.
class ParentTest : public testing::Test {
protected:
    ParentTest() { (void)repo(); }

    [[nodiscard]] Repo repo() const {
        return {fixture_.ctx(), fixture_.repo(), fixture_.blueprint.ostree.ref};
    }
    [[nodiscard]] std::string put(const std::string& bytes, std::string_view extension) const {
        std::string checksum = sha256_hex(bytes);
        const std::filesystem::path file =
            fixture_.repo() / "objects" / object_path(checksum, extension);
        std::filesystem::create_directories(file.parent_path());
        write_file(file, bytes);
        return checksum;
    }
    /// A directory that contains the same one under each of these names.
    [[nodiscard]] std::string directory(const std::vector<std::string>& names,
                                        const std::string& tree) const {
        DirectoryContent content;
        for (const std::string& name : names) {
            content.directories.push_back({name, tree, meta_});
        }
        return put(dirtree_object(content, "/"), "dirtree");
    }
    /// 2^`levels` directories at /etc/microshift/NAME, of `levels` objects.
    [[nodiscard]] std::string bomb(const std::string& name, unsigned levels) const {
        std::string tree = directory({}, {});
        for (unsigned i = 0; i < levels; ++i) {
            tree = directory({"a", "b"}, tree);
        }
        for (const std::string& above :
             {name, std::string("microshift"), std::string("etc"), std::string("usr")}) {
            tree = directory({above}, tree);
        }
        return commit(tree);
    }
    /// Has the package microshift.
    [[nodiscard]] std::string commit(const std::string& tree) const {
        const VariantHandle metadata = own(g_variant_new_parsed(
            "{'rpmostree.rpmdb.pkglist': <[('microshift', '0', '4.18.1', '1', 'x86_64')]>}"));
        return put(commit_object(metadata.get(), "", "", 1700000000, tree, meta_), "commit");
    }
    [[nodiscard]] Parent read(const std::string& checksum) {
        fixture_.blueprint.ostree.parent = checksum;
        Signer signer;
        return read_parent(fixture_.ctx(), repo(), fixture_.blueprint.ostree, signer).value();
    }

    // NOLINTBEGIN(*-non-private-*)
    CommitFixture fixture_;
    std::string meta_ = put_meta();
    // NOLINTEND(*-non-private-*)

private:
    [[nodiscard]] std::string put_meta() const {
        (void)repo();
        Entry entry;
        entry.type = EntryType::directory;
        entry.mode = 0755;
        return put(dirmeta_object(entry), "dirmeta");
    }
};

TEST_F(ParentTest, DirectoriesOfAHostileConfigurationAreCounted) {
    const Parent parent = read(bomb("config.d", 14));
    EXPECT_EQ(parent.microshift, "4.18.1");
    EXPECT_THAT(parent.microshift_config, IsEmpty());
    EXPECT_THAT(parent.microshift_config_problem,
                HasSubstr("more than 1024 files and directories"));
}

TEST_F(ParentTest, DirectoriesOfHostileManifestsAreCounted) {
    try {
        (void)read_manifests(repo(), bomb("manifests.d", 14));
        FAIL() << "all of them were read";
    } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), HasSubstr("more than 8192 files and directories"));
    }
}

TEST_F(ParentTest, AMissingObjectIsAProblem) {
    const std::string missing = directory({"microshift"}, std::string(64, '1'));
    EXPECT_THAT(
        read(commit(directory({"usr"}, directory({"etc"}, missing)))).microshift_config_problem,
        HasSubstr("the object of /usr/etc/microshift is missing"));
    EXPECT_THAT(read(bomb("other", 2)).microshift_config_problem, IsEmpty());
}

TEST_F(ParentTest, TheKeysOfItsDevices) {
    EXPECT_THAT(read(fixture_.build().checksum).device_keys, IsEmpty());
    for (const char* path : {"/usr/etc/pki", "/usr/etc/pki/edgegpu"}) {
        fixture_.add_directory(path);
    }
    fixture_.add_file("/usr/etc/pki/edgegpu/edge.gpg", "a key");
    EXPECT_THAT(read(fixture_.build().checksum).device_keys,
                UnorderedElementsAre(Pair("/etc/pki/edgegpu/edge.gpg", "a key")));
}

TEST_F(ParentTest, AccountsThatCannotBeReadAreNotTakenForNone) {
    try {
        (void)read(commit(directory({"usr"}, std::string(64, '1'))));
        FAIL() << "a parent without accounts";
    } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), HasSubstr("the object of /usr is missing"));
    }
}

TEST_F(ParentTest, TheConfigurationOfMicroshift) {
    fixture_.tree.packages.push_back({"microshift", 0, "4.18.1", "1", "x86_64"});
    for (const char* path : {"", "/config.d", "/config.d/sub", "/config.yaml.d"}) {
        fixture_.add_directory(std::string("/usr/etc/microshift") + path);
    }
    for (const char* name : {"config.yaml", "config.d/a.yaml", "config.d/sub/b.yaml",
                             "config.d/README", "config.yaml.d/c.yaml"}) {
        fixture_.add_file(std::string("/usr/etc/microshift/") + name, name);
    }
    fixture_.add_link("/usr/etc/microshift/config.d/link.yaml", "a.yaml");
    fixture_.add_file("/usr/etc/microshift/config.d/large", std::string(5U << 20U, 'x'));
    const Parent parent = read(fixture_.build().checksum);
    EXPECT_THAT(parent.microshift_config_problem, IsEmpty());
    EXPECT_THAT(parent.microshift_config,
                UnorderedElementsAre(Key("/etc/microshift/config.yaml"),
                                     Key("/etc/microshift/config.d/a.yaml"),
                                     Key("/etc/microshift/config.d/sub/b.yaml")));
    EXPECT_EQ(parent.microshift_config.at("/etc/microshift/config.d/a.yaml"), "config.d/a.yaml");
}

}  // namespace
}  // namespace edgegpu::test
