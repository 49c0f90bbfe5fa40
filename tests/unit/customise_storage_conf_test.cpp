#include "customise/images/storage_conf.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "customise_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {
namespace {

constexpr const char* name = "/etc/containers/storage.conf";

std::string added(const std::string& text) {
    return with_image_store(text, "/a", name);
}

/// The stores that a TOML parser finds in the text.
std::vector<std::string> stores(const std::string& text) {
    std::vector<std::string> found;
    const toml::table document = toml::parse(text);
    const toml::array* list = document.at_path("storage.options.additionalimagestores").as_array();
    if (list != nullptr) {
        for (const toml::node& one : *list) {
            found.push_back(one.value_or<std::string>("not a string"));
        }
    }
    return found;
}

using Stores = std::vector<std::string>;

TEST(StorageConf, ListIsExtendedWhereItIs) {
    EXPECT_EQ(added("[storage.options]\nadditionalimagestores = [\n \"/b\",\n]\n"),
              "[storage.options]\nadditionalimagestores = [\"/a\", \n \"/b\",\n]\n");
    EXPECT_EQ(added("[storage.options]\nadditionalimagestores = [\n# none ]\n]\n"),
              "[storage.options]\nadditionalimagestores = [\"/a\"\n# none ]\n]\n");
    EXPECT_EQ(added("[storage]\noptions = { size = \"ä\", additionalimagestores = ['/b'] }\n"),
              "[storage]\noptions = { size = \"ä\", additionalimagestores = [\"/a\", '/b'] }\n");
    EXPECT_EQ(added("storage.options.additionalimagestores = []\n"),
              "storage.options.additionalimagestores = [\"/a\"]\n");
    EXPECT_EQ(stores(added("[storage]\n\"options\".'additionalimagestores' = ['/b', '/c']")),
              (Stores{"/a", "/b", "/c"}));
}

TEST(StorageConf, ListIsAddedToItsTable) {
    EXPECT_EQ(added("[storage.options]\nsize = \"\"\n"),
              "[storage.options]\nadditionalimagestores = [\"/a\"]\nsize = \"\"\n");
    EXPECT_EQ(added("[storage]\r\n\t[ storage . options ] # drivers\r\n\tsize = \"\"\r\n"),
              "[storage]\r\n\t[ storage . options ] # drivers\r\n"
              "additionalimagestores = [\"/a\"]\r\n\tsize = \"\"\r\n");
    EXPECT_EQ(added("[storage.options]"), "[storage.options]\nadditionalimagestores = [\"/a\"]\n");
    EXPECT_EQ(added("[storage]\noptions.size = \"\"\n"),
              "[storage]\noptions.additionalimagestores = [\"/a\"]\noptions.size = \"\"\n");
}

TEST(StorageConf, TableIsAddedToFilesWithoutIt) {
    EXPECT_EQ(added("[storage]\n# additionalimagestores = [\n"),
              "[storage]\n# additionalimagestores = [\n\n[storage.options]\n"
              "additionalimagestores = [\"/a\"]\n");
    EXPECT_EQ(added(""), "\n[storage.options]\nadditionalimagestores = [\"/a\"]\n");
    // The key in another table means nothing; the table of a driver does not have the options'.
    EXPECT_EQ(added("[storage.options.overlay]\nadditionalimagestores = [ \"/b\" ]"),
              "[storage.options.overlay]\nadditionalimagestores = [ \"/b\" ]\n\n[storage.options]\n"
              "additionalimagestores = [\"/a\"]\n");
    EXPECT_EQ(
        stores(added("[storage]\nx = '''\n[storage.options]\nadditionalimagestores = [\n'''\n")),
        Stores{"/a"});
}

TEST(StorageConf, OnceIsEnough) {
    for (const std::string text :
         {"", "[storage]\r\ndriver = 'overlay'\r\n",
          "[storage.options]\nadditionalimagestores=['/b']", "[storage]\noptions.size=''\n"}) {
        const std::string once = added(text);
        EXPECT_EQ(added(once), once);
    }
    const std::string literal = "[storage.options]\nadditionalimagestores = ['/a']\n";
    EXPECT_EQ(added(literal), literal);
}

TEST(StorageConf, WhatCannotBeEditedIsRefused) {
    EXPECT_EQ(
        error_of([] {
            static_cast<void>(added("[storage.options]\nadditionalimagestores = \"/b\"\n"));
        }),
        "/etc/containers/storage.conf:2: additionalimagestores is not a list|correct this file "
        "of the image, with an overlay or its package");
    EXPECT_EQ(
        error_of([] { static_cast<void>(added("[storage]\ndriver = overlay\n")); }).substr(0, 54),
        "/etc/containers/storage.conf:2:10: is not valid TOML: ");
    EXPECT_EQ(
        error_of([] { static_cast<void>(added("[storage]\noptions = {}\n")); }),
        "/etc/containers/storage.conf: additionalimagestores cannot be added to this file|write "
        "`additionalimagestores = [\"/a\"]` in its table [storage.options], with an overlay");
    EXPECT_EQ(
        error_of([] { static_cast<void>(added("storage = 1\n")); }),
        "/etc/containers/storage.conf: additionalimagestores cannot be added to this file|write "
        "`additionalimagestores = [\"/a\"]` in its table [storage.options], with an overlay");
    EXPECT_EQ(
        error_of([] { static_cast<void>(added("[storage]\ndriver = \"vfs\"\n")); }),
        "/etc/containers/storage.conf:2: the storage driver is \"vfs\": additional image stores "
        "are for overlay|set driver = \"overlay\" in this file of the image, with an overlay");
    // What the file says must not look like a line of edgegpu's.
    EXPECT_EQ(error_of([] {
                  static_cast<void>(added("[storage]\ndriver = \"x\\nhint: y\\u001b\"\n"));
              }).find('\n'),
              std::string::npos);
    const std::string deep = "x = " + std::string(100'000, '[');
    EXPECT_NE(error_of([&] { static_cast<void>(added(deep)); }), "");
}

TEST(StorageConf, RealFilesStayWhatTheyAre) {
    for (const char* file : {"el8-early", "el9", "el9-late", "debian", "appliance"}) {
        SCOPED_TRACE(file);
        const std::string text = read_file(std::string(EDGEGPU_SOURCE_DIR) +
                                           "/tests/data/storage-conf/" + file + ".conf");
        const std::string result = added(text);
        const Stores before = stores(text);
        Stores expected = {"/a"};
        expected.insert(expected.end(), before.begin(), before.end());
        EXPECT_EQ(stores(result), expected);
        EXPECT_EQ(added(result), result);
        // What is new is in one place.
        const auto differ = std::mismatch(text.begin(), text.end(), result.begin(), result.end());
        const auto tail = static_cast<std::ptrdiff_t>(text.end() - differ.first);
        EXPECT_EQ(std::string(differ.first, text.end()),
                  std::string(result.end() - tail, result.end()));
    }
}

TEST(StorageConf, DropInsThatReplaceTheListAreExtended) {
    EXPECT_TRUE(replaces_image_stores("[storage.options]\nadditionalimagestores = ['/b']\n", name));
    EXPECT_TRUE(replaces_image_stores("[storage.options]\nadditionalimagestores = []\n", name));
    EXPECT_FALSE(replaces_image_stores("[storage]\ndriver = 'overlay'\n", name));
    EXPECT_FALSE(replaces_image_stores(
        "[storage.options]\nadditionalimagestores = ['/b', {append=true}]\n", name));
    EXPECT_TRUE(replaces_image_stores(
        "[storage.options]\nadditionalimagestores = ['/b', {append=false}]\n", name));
    EXPECT_EQ(
        stores(added("[storage.options]\nadditionalimagestores = ['/b', {append=false}]\n")).size(),
        3U);
}

TEST(StorageConf, UsersKeepWhatTheyInherit) {
    EXPECT_EQ(user_storage_conf("[storage]\ndriver = 'overlay'\ngraphroot = '/var/x'\n"
                                "[storage.options]\nadditionalimagestores = ['/b']\nsize = '1'\n",
                                "/a", name),
              std::string(user_storage_conf("", "/a", name)));
    const std::string text = user_storage_conf(
        "[storage]\nrootless_storage_path = '/data/$USER/\"x\"'\n[storage.options]\n"
        "pull_options = { enable_partial_images = \"true\", use_hard_links = \"false\" }\n"
        "[storage.options.overlay]\nignore_chown_errors = \"true\"\nmountopt = \"nodev\"\n",
        "/a", name);
    const toml::table document = toml::parse(text);
    EXPECT_EQ(document.at_path("storage.driver").value_or<std::string>(""), "overlay");
    EXPECT_EQ(document.at_path("storage.rootless_storage_path").value_or<std::string>(""),
              "/data/$USER/\"x\"");
    EXPECT_EQ(document.at_path("storage.options.pull_options.enable_partial_images")
                  .value_or<std::string>(""),
              "true");
    EXPECT_EQ(
        document.at_path("storage.options.overlay.ignore_chown_errors").value_or<std::string>(""),
        "true");
    EXPECT_FALSE(document.at_path("storage.options.overlay.mountopt"));
    EXPECT_FALSE(document.at_path("storage.graphroot"));
    EXPECT_EQ(stores(text), Stores{"/a"});
}

}  // namespace
}  // namespace edgegpu::test
