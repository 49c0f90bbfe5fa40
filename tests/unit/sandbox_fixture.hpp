#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "execution/process.hpp"
#include "sandbox/sandbox.hpp"

namespace edgegpu::test {

/// A root with a shell and a few programs of this machine, and the libraries they need.
class Sandbox : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "edgegpu-sandbox.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        const std::string script =
            "set -e; mkdir -p root/usr/bin root/usr/lib root/usr/lib64 root/etc\n"
            "for d in bin lib lib64; do ln -s usr/$d root/$d; done; ln -s usr/bin root/sbin\n"
            "for p in sh cat ls env sort uname id chown mknod touch grep ps sleep dd; do\n"
            "  f=$(readlink -f $(command -v $p)); cp $f root/usr/bin/$p; ldd $f; done |\n"
            "grep -o '/[^ ]*' | sort -u | while read l; do mkdir -p root${l%/*}; cp $l root$l; "
            "done\n";
        const ProcessResult made = run_process(Context{}, {"sh", "-c", script}, {}, {}, pattern);
        ASSERT_EQ(made.status, 0) << made.output;
        std::filesystem::copy_file(EDGEGPU_IMAGE_PROGRAM,
                                   directory_ / "root/usr/bin/image_program");
        // Where programs of the image write: it is theirs, as in an image.
        ASSERT_EQ(::chown((directory_ / "root").c_str(), 0, 0), 0);
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(directory_); }

    void SetUp() override {
        ctx_.cache = directory_ / "cache";
        ctx_.source_date_epoch = 1700000000;
    }

    [[nodiscard]] ProcessResult shell(const std::string& script) const {
        SandboxCommand command;
        command.root = directory_ / "root";
        command.argv = {"sh", "-c", script};
        command.kernel = "6.1.0-99-edge";
        return run_in_sandbox(ctx_, command);
    }

    inline static std::filesystem::path directory_;
    Context ctx_;
};

}  // namespace edgegpu::test
