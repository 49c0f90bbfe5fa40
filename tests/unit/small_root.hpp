#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "support/file.hpp"

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

}  // namespace edgegpu::test
