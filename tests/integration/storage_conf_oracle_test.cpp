// storage.conf as edgegpu writes it, read by the build machine's skopeo, as podman and CRI-O read
// it: it takes the store, and its other settings are those of the file before.

#include <sys/mount.h>

#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "customise/images/storage_conf.hpp"
#include "execution/process.hpp"
#include "support/files/file.hpp"
#include "unit/customise_fixture.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, std::string_view from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

class StorageConfOracle : public TreeTest {
protected:
    /// An empty store, which engines take only with these files.
    std::string store(const std::string& name) {
        const fs::path path = scratch / name;
        make_directories(path / "overlay");
        for (const auto& [directory, lock] : {std::pair("overlay-images", "images.lock"),
                                              std::pair("overlay-layers", "layers.lock")}) {
            make_directories(path / directory);
            write_file(path / directory / lock, "");
        }
        return path.string();
    }
    /// What skopeo says when it opens the storage with the text as its configuration, with the
    /// places of this test. There is no image.
    std::string skopeo(const std::string& text) {
        const std::string graph = (scratch / "graph").string();
        std::string here = replaced(text, "\"/var/lib/containers/storage\"", '"' + graph + '"');
        for (const char* run : {"\"/run/containers/storage\"", "\"/var/run/containers/storage\""}) {
            here = replaced(here, run, '"' + (scratch / "run").string() + '"');
        }
        write_file(scratch / "storage.conf", here);
        const ProcessResult result = run_process(
            ctx, {"skopeo", "--debug", "inspect", "containers-storage:localhost/none:1"},
            {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=" + scratch.string(),
             "XDG_RUNTIME_DIR=" + scratch.string(),
             "CONTAINERS_STORAGE_CONF=" + (scratch / "storage.conf").string()});
        ::umount2((graph + "/overlay").c_str(), MNT_DETACH);
        // For an ordinary user the kernel may not mount overlays: it has read the file then.
        opened = result.output.find("does not resolve to an image") != std::string::npos;
        EXPECT_TRUE(opened ||
                    result.output.find("kernel does not support overlay fs") != std::string::npos)
            << result.output;
        return result.output;
    }
    /// Whether it could open the storage the last time.
    bool opened = false;
    static bool takes(const std::string& said, const std::string& path) {
        return said.find("overlay: imagestore=" + path + '"') != std::string::npos;
    }
};

TEST_F(StorageConfOracle, EnginesTakeTheStoreFromEachForm) {
    if (!fs::exists("/usr/bin/skopeo")) {
        GTEST_SKIP() << "no skopeo";
    }
    const std::string ours = store("ours");
    const std::string vendors = store("vendors");
    for (const char* file : {"el8-early", "el9", "el9-late", "debian", "appliance"}) {
        SCOPED_TRACE(file);
        const std::string text = replaced(read_file(std::string(EDGEGPU_SOURCE_DIR) +
                                                    "/tests/data/storage-conf/" + file + ".conf"),
                                          "/usr/lib/appliance/storage", vendors);
        const std::string said = skopeo(with_image_store(text, ours, "storage.conf"));
        EXPECT_TRUE(takes(said, ours)) << said;
        EXPECT_EQ(takes(said, vendors), std::string_view(file) == "appliance") << said;
        const bool mount_options = text.find("mountopt = ") != std::string::npos;
        EXPECT_EQ(said.find("overlay.mountopt=nodev") != std::string::npos, opened && mount_options)
            << said;
        // A key that containers-storage does not know.
        EXPECT_EQ(said.find("Failed to decode the keys"), std::string::npos) << said;
    }
}

TEST_F(StorageConfOracle, EnginesTakeTheStoreOfUsers) {
    if (!fs::exists("/usr/bin/skopeo")) {
        GTEST_SKIP() << "no skopeo";
    }
    const std::string ours = store("ours");
    const std::string text = user_storage_conf(
        "[storage.options]\npull_options = { enable_partial_images = \"true\" }\n"
        "[storage.options.overlay]\nignore_chown_errors = \"true\"\n",
        ours, "storage.conf");
    // Users have places of their own, which the file leaves to podman; here they are this test's.
    const std::string said =
        skopeo(replaced(text, "[storage]\n",
                        "[storage]\ngraphroot = \"/var/lib/containers/storage\"\n"
                        "runroot = \"/run/containers/storage\"\n"));
    EXPECT_TRUE(takes(said, ours)) << said;
    EXPECT_EQ(said.find("overlay.ignore_chown_errors=true") != std::string::npos, opened) << said;
    EXPECT_EQ(said.find("Failed to decode the keys"), std::string::npos) << said;
}

}  // namespace
}  // namespace edgegpu::test
