#pragma once

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "customise/files/file_modes.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "log/console.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {

/// A tree in memory with its content in a temporary cache, and a builder directory to copy from.
class TreeTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name =
            (std::filesystem::temp_directory_path() / "edgegpu-unit-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        scratch = name;
        ctx.cache = scratch / "cache";
        make_directories(ctx.cache / "content");
        make_directories(ctx.cache / "work");
        ctx.console = &console;
        tree.entries["/"].type = EntryType::directory;
        tree.entries["/"].mode = 0755;
        tree.kernel = "6.1.0-1";
    }
    void TearDown() override { std::filesystem::remove_all(scratch); }

    void file(const std::string& path, const std::string& content, unsigned mode = 0644) {
        put_entry(tree, path, make_file_entry(ctx, content, mode));
    }
    void directory(const std::string& path, unsigned mode = 0755, std::uint32_t uid = 0,
                   std::uint32_t gid = 0) {
        Entry entry;
        entry.type = EntryType::directory;
        entry.mode = mode;
        entry.uid = uid;
        entry.gid = gid;
        put_entry(tree, path, entry);
    }
    void link(const std::string& path, const std::string& target) {
        Entry entry;
        entry.type = EntryType::symlink;
        entry.mode = 0777;
        entry.target = target;
        put_entry(tree, path, entry);
    }
    void accounts() {
        file("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nchrony:x:990:991::/:/sbin/nologin\n");
        file("/etc/group", "root:x:0:\nwheel:x:10:\nchrony:x:991:\n");
        file("/etc/shadow", "root:*::0:99999:7:::\n", 0000);
        file("/etc/gshadow", "root:::\nwheel:::\n", 0000);
        file("/usr/bin/bash", "", 0755);
        link("/bin", "usr/bin");
    }
    [[nodiscard]] std::string text(const std::string& path) const { return read_entry(tree, path); }
    /// A file of the builder, below `scratch`.
    void host_file(const std::string& path, const std::string& content, unsigned mode = 0600) {
        make_directories((scratch / path).parent_path());
        write_file(scratch / path, content, mode);
    }

    std::filesystem::path scratch;
    Console console{Color::never, true};
    Context ctx;
    FileModes modes{ctx, {}};
    Tree tree;
};

/// The message (and hint) of the Error that `action` throws, or "".
template <typename Action>
std::string error_of(Action action) {
    try {
        action();
    } catch (const Error& failure) {
        return failure.message() + "|" + failure.hint();
    }
    return "";
}

}  // namespace edgegpu::test
