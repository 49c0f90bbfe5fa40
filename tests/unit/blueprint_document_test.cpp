#include "blueprint/document/document.hpp"

#include <algorithm>

#include <sys/stat.h>

#include "blueprint/fields/digest.hpp"
#include "support/files/digest.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class DocumentTest : public BlueprintTest {
protected:
    [[nodiscard]] std::string digest_of(const Blueprint& blueprint) const {
        Sha256 digest;
        add_blueprint(digest, blueprint);
        return digest.hex();
    }
    [[nodiscard]] std::string extending(const std::string& base) const {
        return failure("extends = \"" + base + "\"\ndistro = \"lab-12\"\n");
    }
};

TEST_F(DocumentTest, chains) {
    put("a.toml", "name = \"a\"\nversion = \"1.0\"\ndistro = \"lab-12\"\nexcludes = [\"a\"]\n");
    put("sub/m.toml", "extends = \"../a.toml\"\nversion = \"2.0\"\nexcludes = [\"m\"]\n");
    const Blueprint blueprint =
        parse("extends = \"sub/m.toml\"\nname = \"b\"\nexcludes = [\"b\"]\n");
    EXPECT_EQ(blueprint.name, "b");
    EXPECT_EQ(blueprint.version, "2.0");
    EXPECT_EQ(blueprint.excludes, (std::vector<std::string>{"a", "m", "b"}));
    const Document document = read_document(directory_ / "b.toml", {});
    ASSERT_EQ(document.files.size(), 3U);
    EXPECT_EQ(shown(document.files[0].name), "b.toml");
    EXPECT_EQ(shown(document.files[1].name), "sub/m.toml");
    EXPECT_EQ(shown(document.files[2].name), "a.toml");
    EXPECT_EQ(document.files[2].sha256, sha256_file(directory_ / "a.toml"));
}

TEST_F(DocumentTest, paths_are_relative_to_the_file_that_says_them) {
    put("common/base.toml", R"(distro = "lab-12"
repository_files = ["own.repo"]
[[overlays]]
source = "./files"
[[overlays]]
source = "named"
[selinux]
modules = ["./x.te", "bare"]
[microshift]
bundles = ["./app"]
[[repositories]]
id = "r"
baseurl = "./repo"
gpgkey = "key.asc"
[ostree]
gpg_public_key = "pub.asc"
[[systemd.units]]
name = "a.service"
source = "a.service"
[[containers]]
source = "oci:image:1"
name = "localhost/a:1"
[[test.checks]]
name = "t"
path = "check"
[image]
inject = "one.toml"
)");
    put("common/own.repo", "[o]\nname=o\nbaseurl=../o\ngpgcheck=0\n");
    put("common/a.service", "[Unit]\n");
    const Blueprint b =
        parse("extends = \"common/base.toml\"\n[[overlays]]\nsource = \"./files\"\n");
    const fs::path common = directory_ / "common";
    EXPECT_EQ(b.overlays[0].source, common / "files");
    EXPECT_EQ(b.overlays[1].source, directory_ / "overlays/named");
    EXPECT_EQ(b.overlays[2].source, directory_ / "files");
    EXPECT_EQ(b.selinux.modules[0], common / "x.te");
    EXPECT_EQ(b.selinux.modules[1], directory_ / "selinux/bare.te");
    EXPECT_EQ(b.microshift.bundles[0].source, common / "app");
    EXPECT_EQ(b.repositories[0].baseurls[0], "file://" + (common / "repo").string());
    EXPECT_EQ(b.repositories[0].gpgkeys[0], (common / "key.asc").string());
    EXPECT_EQ(b.repositories[1].baseurls[0], "file://" + (directory_ / "o").string());
    EXPECT_EQ(shown(b.repositories[1].location.file), "common/own.repo");
    EXPECT_EQ(b.ostree.gpg_public_key, common / "pub.asc");
    EXPECT_EQ(*b.systemd.units[0].contents, "[Unit]\n");
    EXPECT_EQ(b.containers[0].located, "oci:" + (common / "image").string() + ":1");
    EXPECT_EQ(b.test.checks[0].path, common / "check");
    EXPECT_EQ(b.image.injection, common / "one.toml");
}

TEST_F(DocumentTest, bases_that_cannot_be) {
    const std::string own = "error: b.toml:1:11: ";
    EXPECT_EQ(extending("b.toml"), own + "b.toml extends itself: b.toml → b.toml\n");
    put("c.toml", "extends = \"b.toml\"\n");
    EXPECT_EQ(extending("c.toml"),
              "error: c.toml:1:11: b.toml extends itself: b.toml → c.toml → b.toml\n");
    fs::create_symlink("b.toml", directory_ / "link.toml");
    EXPECT_EQ(extending("link.toml"), own + "b.toml extends itself: b.toml → link.toml\n");
    EXPECT_EQ(extending("none.toml"), own + "cannot extend none.toml: No such file or directory\n");
    make_directories(directory_ / "directory");
    EXPECT_EQ(extending("directory"), own + "cannot extend directory: not a regular file\n");
    ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
    EXPECT_EQ(extending("fifo"), own + "cannot extend fifo: not a regular file\n");
    EXPECT_EQ(extending("/dev/zero"), own + "cannot extend /dev/zero: not a regular file\n");
    EXPECT_NE(extending("/proc/self/status").find("cannot extend /proc/self/status: "),
              std::string::npos);
    put("huge.toml", "");
    fs::resize_file(directory_ / "huge.toml", (16U << 20U) + 1);
    EXPECT_NE(extending("huge.toml").find(own + "cannot extend huge.toml: "), std::string::npos)
        << extending("huge.toml");
    put("bad.toml", "name = \n");
    EXPECT_EQ(extending("bad.toml").rfind("error: bad.toml:1:", 0), 0U) << extending("bad.toml");
    EXPECT_EQ(extending(""), own + "\"extends\" is empty\n");
    EXPECT_EQ(extending("a\\nb"), own + "\"extends\" contains a control character\n");
    EXPECT_EQ(extending("${parameters.x}"),
              own +
                  "\"extends\" cannot have parameters\n"
                  "hint: parameters are replaced once the files are merged\n");
    EXPECT_EQ(failure("extends = [\"a\"]\n"),
              "error: b.toml:1:11: \"extends\" must be a string, not an array\n");
    for (int i = 0; i < 20; ++i) {
        put("deep" + std::to_string(i) + ".toml",
            "extends = \"deep" + std::to_string(i + 1) + ".toml\"\n");
    }
    EXPECT_EQ(extending("deep0.toml"),
              "error: deep14.toml:1:11: a blueprint consists of more than 16 files: deep15.toml is "
              "one too many\n");
}

TEST_F(DocumentTest, a_link_and_a_blueprint_of_image_builder_can_be_bases) {
    fs::copy_file(fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/blueprints/image-builder.toml",
                  top_ / "theirs.toml");
    fs::create_symlink(top_ / "theirs.toml", directory_ / "base.toml");
    const Blueprint theirs = parse_blueprint(top_ / "theirs.toml", {{}, "rhel-9.4", {}});
    const Blueprint merged = parse("extends = \"base.toml\"\ndistro = \"rhel-9.4\"\n");
    EXPECT_EQ(merged.users.size(), theirs.users.size());
    EXPECT_EQ(merged.packages.size(), theirs.packages.size());
}

TEST_F(DocumentTest, the_inputs_of_a_build_are_those_of_the_whole) {
    put("base.toml", "distro = \"lab-12\"\n[customizations]\nhostname = \"a\"\n");
    const std::string own = "extends = \"base.toml\"\n";
    const std::string before = digest_of(parse(own));
    const std::string values = values_digest(read_document(directory_ / "b.toml", {}));
    EXPECT_EQ(digest_of(parse("distro = \"lab-12\"\n[customizations]\nhostname = \"a\"\n")),
              before);
    EXPECT_EQ(values_digest(read_document(directory_ / "b.toml", {})), values);
    put("base.toml", "distro = \"lab-12\"\n[customizations]\nhostname = \"b\"\n");
    EXPECT_NE(digest_of(parse(own)), before);
    EXPECT_NE(values_digest(read_document(directory_ / "b.toml", {})), values);
}

TEST_F(DocumentTest, values_of_other_types_have_other_digests) {
    std::vector<std::string> digests;
    for (const char* value : {"\"1\"", "1", "1.0", "true", "[\"1\"]", "[[\"1\"]]", "{ a = 1 }",
                              "[]", "{}", "\"\"", "[\"a\", \"b\"]", "[\"ab\"]"}) {
        put("b.toml", "x = " + std::string(value) + "\n");
        digests.push_back(values_digest(read_document(directory_ / "b.toml", {})));
    }
    std::sort(digests.begin(), digests.end());
    EXPECT_EQ(std::unique(digests.begin(), digests.end()), digests.end());
}

}  // namespace
}  // namespace edgegpu
