#include "pipeline/snapshot.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "blueprint/sources/policy_source.hpp"
#include "blueprint/sources/source_directory.hpp"
#include "bundles/render.hpp"
#include "customise/files/files.hpp"
#include "customise/files/overlays.hpp"
#include "customise_fixture.hpp"
#include "pipeline/inputs.hpp"
#include "support/files/digest.hpp"
#include "tar_fixture.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;

class Snapshot : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
        directory("/etc");
        blueprint.path = scratch / "b.toml";
    }
    void add_overlay_of(const std::string& name) {
        OverlayRequest overlay;
        overlay.source = scratch / name;
        overlay.location = {"b.toml", 5, 1};
        blueprint.overlays.push_back(overlay);
    }
    /// What a build commits of the blueprint, and the digest that it commits with it.
    std::string commit(const Blueprint& taken) {
        add_overlays(ctx, taken.overlays, modes, tree);
        add_files(ctx, taken.files, modes, tree);
        return inputs_digest(taken, Resolution{}, 0);
    }
    /// Writes to the file's own inode.
    void overwrite(const std::string& path, const std::string& content) const {
        std::ofstream(scratch / path, std::ios::trunc) << content;
    }
    /// Puts another file in its place.
    void swap(const std::string& path, const std::string& content) const {
        write_file(scratch / "other", content);
        fs::rename(scratch / "other", scratch / path);
    }
    Blueprint blueprint;
};

TEST_F(Snapshot, WhatChangesAfterwardsIsCommittedAsItWasHashed) {
    host_file("overlay/etc/swapped", "one");
    host_file("overlay/etc/overwritten", "two");
    host_file("overlay/etc/removed", "three");
    host_file("v.tar", tar_archive({{"etc/archived", '0', "four"}}));
    host_file("file", "five");
    host_file("bundle/kustomization.yaml", "six");
    add_overlay_of("overlay");
    add_overlay_of("v.tar");
    FileRequest request;
    request.path = "/etc/file";
    request.source = scratch / "file";
    blueprint.files = {request};
    blueprint.microshift.bundles = {{"bundle", scratch / "bundle", {"b.toml", 9, 1}}};
    const Blueprint taken = take_snapshot(ctx, blueprint);
    const std::string digest = inputs_digest(taken, Resolution{}, 0);

    swap("overlay/etc/swapped", "changed");
    overwrite("overlay/etc/overwritten", "changed");
    fs::remove(scratch / "overlay/etc/removed");
    host_file("overlay/etc/new", "changed");
    overwrite("v.tar", tar_archive({{"etc/archived", '0', "changed"}}));
    overwrite("file", "changed");
    swap("bundle/kustomization.yaml", "changed");

    EXPECT_EQ(commit(taken), digest);
    EXPECT_EQ(text("/etc/swapped"), "one");
    EXPECT_EQ(text("/etc/overwritten"), "two");
    EXPECT_EQ(text("/etc/removed"), "three");
    EXPECT_EQ(text("/etc/archived"), "four");
    EXPECT_EQ(text("/etc/file"), "five");
    EXPECT_EQ(read_request_files(taken.microshift.bundles[0]).files.at("kustomization.yaml"),
              "six");
    EXPECT_FALSE(tree.entries.contains("/etc/new"));
    for (const auto& [path, entry] : tree.entries) {
        if (entry.type == EntryType::file) {
            EXPECT_EQ(sha256_file(entry.content), entry.digest) << path;
        }
    }
    EXPECT_NE(inputs_digest(take_snapshot(ctx, blueprint), Resolution{}, 0), digest);
}

TEST_F(Snapshot, PolicyModulesAndKeysAreCopiesThatAreShownAsTheUsers) {
    host_file("selinux/x.te", "module x 1.0;\n");
    host_file("selinux/x.fc", "/x -- gen_context(system_u:object_r:x_t,s0)\n");
    host_file("key", "KEY");
    blueprint.selinux.modules = {scratch / "selinux/x.te"};
    blueprint.ostree.gpg_public_key = scratch / "key";
    const Blueprint taken = take_snapshot(ctx, blueprint);
    overwrite("selinux/x.te", "changed");
    overwrite("selinux/x.fc", "changed");
    host_file("selinux/x.if", "changed");
    overwrite("key", "changed");
    const fs::path module = taken.selinux.modules.at(0);
    EXPECT_EQ(read_file(module), "module x 1.0;\n");
    EXPECT_EQ(read_file(beside_module(module, ".fc")),
              "/x -- gen_context(system_u:object_r:x_t,s0)\n");
    EXPECT_FALSE(fs::exists(beside_module(module, ".if")));
    EXPECT_EQ(read_file(taken.ostree.gpg_public_key), "KEY");
    EXPECT_EQ(module.filename(), "x.te");
    EXPECT_EQ(display_path(module), display_path(scratch / "selinux/x.te"));
    EXPECT_EQ(path_of_user(module), scratch / "selinux/x.te");
}

TEST_F(Snapshot, DigestIsIndependentOfWhereFilesLie) {
    std::vector<std::string> digests;
    for (const char* place : {"here", "elsewhere/and/deeper"}) {
        const std::string top = place;
        host_file(top + "/overlay/etc/a", "a");
        host_file(top + "/x.te", "module x 1.0;\n");
        host_file(top + "/key", "KEY");
        Blueprint moved = blueprint;
        moved.overlays.emplace_back().source = scratch / top / "overlay";
        moved.selinux.modules = {scratch / top / "x.te"};
        moved.ostree.gpg_public_key = scratch / top / "key";
        digests.push_back(inputs_digest(take_snapshot(ctx, moved), Resolution{}, 0));
    }
    EXPECT_EQ(digests.at(0), digests.at(1));
}

TEST_F(Snapshot, UnchangedFilesAreNotWrittenAgain) {
    host_file("overlay/etc/big", std::string(3U << 20U, 'x'));
    add_overlay_of("overlay");
    const auto state = [&] {
        const Blueprint taken = take_snapshot(ctx, blueprint);
        const StoredFile& stored = taken.overlays.at(0).stored->members.at(1).content;
        struct stat status {};
        EXPECT_EQ(::stat(stored.path.c_str(), &status), 0);
        return std::pair(status.st_ino, status.st_ctim.tv_nsec);
    };
    const auto first = state();
    EXPECT_EQ(state(), first);
}

TEST_F(Snapshot, WhatNoImageCarriesIsRefusedAndNeverOpened) {
    host_file("overlay/etc/a", "a");
    add_overlay_of("overlay");
    const fs::path odd = scratch / "overlay/etc/b";
    const std::string begin =
        "b.toml:5:1: overlay " + (scratch / "overlay").string() + ": \"etc/b\" ";
    ASSERT_EQ(::mkfifo(odd.c_str(), 0600), 0);
    EXPECT_TRUE(error_of([&] {
                    static_cast<void>(take_snapshot(ctx, blueprint));
                }).starts_with(begin + "is a fifo|"));
    fs::remove(odd);
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address {};
    address.sun_family = AF_UNIX;
    ASSERT_LT(odd.string().size(), sizeof address.sun_path);
    odd.string().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(server, reinterpret_cast<const struct sockaddr*>(&address), sizeof address),
              0);
    EXPECT_TRUE(error_of([&] {
                    static_cast<void>(take_snapshot(ctx, blueprint));
                }).starts_with(begin + "is a socket|"));
    ::close(server);
    fs::remove(odd);
    if (::mknod(odd.c_str(), S_IFCHR | 0600, 0) == 0) {
        EXPECT_TRUE(error_of([&] {
                        static_cast<void>(take_snapshot(ctx, blueprint));
                    }).starts_with(begin + "is a character device|"));
    }
}

TEST_F(Snapshot, OnlyRegularFilesAreTaken) {
    ASSERT_EQ(::mkfifo((scratch / "fifo.te").c_str(), 0600), 0);
    const auto failure = [&] {
        return error_of([&] { static_cast<void>(take_snapshot(ctx, blueprint)); });
    };
    FileRequest request;
    request.path = "/etc/file";
    request.location = {"b.toml", 7, 1};
    request.source = scratch / "fifo.te";
    const std::string fifo = (scratch / "fifo.te").string();
    blueprint.files = {request};
    EXPECT_EQ(failure(), "b.toml:7:1: file " + fifo + " is not a regular file|");
    blueprint.files.clear();
    blueprint.selinux.modules = {fifo};
    blueprint.selinux.location = {"b.toml", 8, 1};
    EXPECT_EQ(failure(), "b.toml:8:1: policy module " + fifo + " is not a regular file|");
    blueprint.selinux.modules.clear();
    add_overlay_of("fifo.te");
    EXPECT_EQ(failure(), "b.toml:5:1: overlay not found: " + fifo + "|");
    blueprint.overlays.clear();
    add_overlay_of("nothing");
    EXPECT_EQ(failure(), "b.toml:5:1: overlay not found: " + (scratch / "nothing").string() + "|");
}

TEST_F(Snapshot, PrivateKeysAreNotCopied) {
    host_file("key", "-----BEGIN PRIVATE KEY----- secret");
    host_file("certificate", "certificate");
    blueprint.nvidia.emplace().secure_boot.emplace();
    blueprint.nvidia->secure_boot->key = scratch / "key";
    blueprint.nvidia->secure_boot->certificate = scratch / "certificate";
    const Blueprint taken = take_snapshot(ctx, blueprint);
    EXPECT_EQ(taken.nvidia->secure_boot->key, scratch / "key");
    for (const fs::directory_entry& found : fs::recursive_directory_iterator(ctx.cache)) {
        if (found.is_regular_file()) {
            EXPECT_EQ(read_file(found.path()).find("secret"), std::string::npos) << found.path();
        }
    }
}

TEST_F(Snapshot, StagesReadCopiesOnly) {
    host_file("overlay/etc/a", "a");
    add_overlay_of("overlay");
    EXPECT_EQ(error_of([&] { add_overlays(ctx, blueprint.overlays, modes, tree); }),
              (scratch / "overlay").string() + ": the build took no copy of it|");
    EXPECT_EQ(error_of([&] { static_cast<void>(inputs_digest(blueprint, Resolution{}, 0)); }),
              (scratch / "overlay").string() + ": the build took no copy of it|");
}

/// Whatever is stored is whole, and that a file grew meanwhile is told sooner or later.
TEST_F(Snapshot, AFileThatGrowsWhileItIsCopied) {
    host_file("log", std::string(4U << 20U, 'x'));
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        std::ofstream log(scratch / "log", std::ios::app);
        while (!stop) {
            log << 'y' << std::flush;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    });
    std::string failure;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (failure.empty() && std::chrono::steady_clock::now() < deadline) {
        failure = error_of([&] {
            const StoredFile stored = store_file(ctx, scratch / "log");
            EXPECT_EQ(fs::file_size(stored.path), stored.size);
            EXPECT_EQ(sha256_file(stored.path), stored.digest);
        });
    }
    stop = true;
    writer.join();
    EXPECT_EQ(failure, (scratch / "log").string() +
                           " changed while it was read|build again when nothing writes to it");
    for (const fs::directory_entry& found :
         fs::recursive_directory_iterator(ctx.cache / "content")) {
        const std::string name = found.path().filename().string();
        EXPECT_FALSE(name.starts_with(".new-"));
        if (found.is_regular_file()) {
            EXPECT_EQ(found.path().parent_path().filename().string() + name,
                      sha256_file(found.path()));
        }
    }
}

TEST_F(Snapshot, ALinkInADirectorysPlaceLeadsNowhere) {
    host_file("secrets/key", "secret");
    host_file("top/a/own", "a");
    host_file("top/b/own", "b");
    std::vector<std::string> seen;
    walk_source(
        scratch / "top", true,
        [&](const SourceObject& object) {
            seen.push_back(object.name);
            if (object.name == "a" || object.name == "a/own") {
                // That which is about to be entered, then that which comes next.
                const std::string next = object.name == "a" ? "a" : "b";
                fs::rename(scratch / "top" / next, scratch / ("moved-" + next));
                fs::create_directory_symlink(scratch / "secrets", scratch / "top" / next);
            }
        },
        [](std::string_view name, std::string_view reason) {
            return error("{}: {}", name, reason);
        });
    EXPECT_EQ(seen, (std::vector<std::string>{"a", "a/own", "b"}));
}

TEST_F(Snapshot, ADeepDirectoryIsAnError) {
    Fd at(::open(scratch.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name(200, 'd');
    for (int depth = 0; depth < 25; ++depth) {
        const std::string made = depth == 0 ? "deep" : name;
        ASSERT_EQ(::mkdirat(at.get(), made.c_str(), 0700), 0);
        at = Fd(::openat(at.get(), made.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    add_overlay_of("deep");
    EXPECT_NE(error_of([&] {
                  static_cast<void>(take_snapshot(ctx, blueprint));
              }).find("is longer than 4095 bytes"),
              std::string::npos);
    remove_tree(scratch / "deep");
}

}  // namespace
}  // namespace edgegpu::test
