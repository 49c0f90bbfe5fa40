#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "image/tree.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {

/// Makes `directory`/root with a shell and a few programs of this machine, and the libraries they
/// need, to run in the sandbox. Returns it.
inline std::filesystem::path make_small_root(const std::filesystem::path& directory) {
    const std::string script =
        "set -e; umask 022; mkdir -p root/usr/bin root/usr/sbin root/usr/lib root/usr/lib64 "
        "root/etc\n"
        "for d in bin sbin lib lib64; do ln -s usr/$d root/$d; done\n"
        "for p in sh cat chmod ln rm mkdir mkfifo touch truncate; do\n"
        "  f=$(readlink -f $(command -v $p)); cp $f root/usr/bin/$p; ldd $f; done |\n"
        "grep -o '/[^ ]*' | sort -u | while read l; do mkdir -p root${l%/*}; cp $l root$l; done\n";
    const ProcessResult made = run_process(Context{}, {"sh", "-c", script}, {}, {}, directory);
    EXPECT_EQ(made.status, 0) << made.output;
    return directory / "root";
}

/// A script in a small root, with the shell's `set -e`.
inline void add_program(const std::filesystem::path& root, const std::string& path,
                        const std::string& script) {
    make_directories((root / path.substr(1)).parent_path());
    write_file(root / path.substr(1), "#!/bin/sh\nset -e\n" + script + "\n", 0755);
}

/// Adds a file, directory or link of the directory `root` to the tree, with its path below that.
inline void add_from_disk(const Context& ctx, Tree& tree, const std::filesystem::path& root,
                          const std::filesystem::path& source) {
    struct stat status {};
    ASSERT_EQ(::lstat(source.c_str(), &status), 0);
    Entry entry;
    if (S_ISREG(status.st_mode)) {
        entry = make_file_entry_from(ctx, source, status.st_mode & 07777U);
    } else if (S_ISDIR(status.st_mode)) {
        entry.type = EntryType::directory;
        entry.mode = status.st_mode & 07777U;
    } else {
        entry = link_to(std::filesystem::read_symlink(source).string());
    }
    tree.entries["/" + source.lexically_relative(root).string()] = entry;
}

/// Adds everything in the directory `root` to the tree.
inline void add_all_from_disk(const Context& ctx, Tree& tree, const std::filesystem::path& root) {
    for (const auto& item : std::filesystem::recursive_directory_iterator(root)) {
        add_from_disk(ctx, tree, root, item.path());
    }
}

}  // namespace edgegpu::test
