#include "customise/images/crio_conf.hpp"

#include <gtest/gtest.h>

#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

constexpr const char* crio_drop_in = "/etc/crio/crio.conf.d/zz-edgegpu-images.conf";

class CrioConf : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        file("/usr/bin/crio", "", 0755);
    }
    void configure(const std::vector<std::string>& names = {"localhost/app:1"}) {
        configure_crio(ctx, names, "/usr/share/store", tree);
    }
};

TEST_F(CrioConf, ImagesOfTheStoreAreNotCollected) {
    // What MicroShift brings.
    file("/etc/crio/crio.conf.d/10-microshift.conf",
         "[crio.image]\nglobal_auth_file=\"/etc/crio/openshift-pull-secret\"\n"
         "pause_image = \"quay.io/pause@sha256:1\"\n");
    file("/etc/crio/crio.conf", "[crio]\nstorage_option = [\"overlay.mountopt=nodev\"]\n");
    configure({"localhost/b:1", "localhost/a:1"});
    EXPECT_EQ(text(crio_drop_in),
              "# Images of this system: in a store that is only read, where nothing is gained by "
              "removing them.\n[crio.image]\npinned_images = [\n  \"localhost/a:1\",\n"
              "  \"localhost/b:1\",\n]\n");
}

TEST_F(CrioConf, PinnedImagesStayPinned) {
    file("/etc/crio/crio.conf", "[crio.image]\npinned_images = [\"other\"]\n");
    file("/etc/crio/crio.conf.d/20-site.conf",
         "[crio.image]\npinned_images = [\"quay.io/site/*\"]\n");
    configure();
    EXPECT_EQ(text(crio_drop_in).substr(text(crio_drop_in).find("pinned")),
              "pinned_images = [\n  \"localhost/app:1\",\n  \"quay.io/site/*\",\n]\n");
}

TEST_F(CrioConf, NothingIsWrittenWithoutNeed) {
    configure({});
    EXPECT_FALSE(tree.entries.contains(crio_drop_in));
    remove_entry(tree, "/usr/bin/crio");
    file("/etc/crio/crio.conf", "[crio]\nstorage_driver = \"vfs\"\n");
    configure();
    EXPECT_FALSE(tree.entries.contains(crio_drop_in));
}

TEST_F(CrioConf, StorageOfAnotherKindIsAnError) {
    file("/etc/crio/crio.conf.d/20-site.conf", "[crio]\nstorage_driver = \"vfs\"\n");
    EXPECT_EQ(
        error_of([&] { configure(); }),
        "/etc/crio/crio.conf.d/20-site.conf:2: CRI-O's storage_driver is \"vfs\": it would not "
        "start with an additional image store|set storage_driver = \"overlay\" in this file of "
        "the image, or leave it out");
    // The last file decides.
    file("/etc/crio/crio.conf.d/30-site.conf", "[crio]\nstorage_driver = \"overlay\"\n");
    EXPECT_EQ(error_of([&] { configure(); }), "");
    file("/etc/crio/crio.conf.d/40-site.conf", "[crio\n");
    EXPECT_NE(error_of([&] { configure(); }).find("40-site.conf:1:"), std::string::npos);
}

TEST_F(CrioConf, OptionsOfTheCommandLineTakeThePlaceOfStorageConf) {
    file("/etc/sysconfig/crio", "# --storage-opt x\nCRIO_METRICS_OPTIONS=\"--enable-metrics\"\n");
    EXPECT_EQ(error_of([&] { configure(); }), "");
    for (const std::string line : {"CRIO_STORAGE_OPTIONS=\"--storage-opt overlay.size=1\"",
                                   "CONTAINER_STORAGE_OPT=overlay.size=1"}) {
        file("/etc/sysconfig/crio", "\n" + line + "\n");
        EXPECT_EQ(
            error_of([&] { configure(); }),
            "/etc/sysconfig/crio:2: storage options on CRI-O's command line take the place of "
            "storage.conf's|add overlay.imagestore=/usr/share/store to them, or write them to "
            "/etc/crio/crio.conf.d as storage_option");
    }
    file("/etc/sysconfig/crio",
         "CRIO_STORAGE_OPTIONS=\"--storage-opt overlay.size=1 --storage-opt "
         "overlay.imagestore=/usr/share/store\"\n");
    EXPECT_EQ(error_of([&] { configure(); }), "");
}

}  // namespace
}  // namespace edgegpu::test
