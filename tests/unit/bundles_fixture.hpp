#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../support/rpm_fixture.hpp"
#include "execution/program_path.hpp"
#include "sandbox/tool.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {

/// A test with a PATH that has only the programs that it puts there.
class OwnPath : public testing::Test {
protected:
    OwnPath() : real_(find_in_path("kustomize")) { ::setenv("PATH", directory().c_str(), 1); }
    ~OwnPath() override { ::setenv("PATH", before_.c_str(), 1); }

    [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

    /// The kustomize that scripts/setup installs.
    void link_real_kustomize() const {
        ASSERT_FALSE(real_.empty()) << "scripts/setup installs kustomize";
        std::filesystem::create_symlink(real_, directory() / "kustomize");
    }

    /// Puts a shell script there.
    void program(const std::string& name, const std::string& script) const {
        const std::filesystem::path file = directory() / name;
        std::filesystem::remove(file);
        write_file(file, "#!/bin/sh\n" + script + "\n", 0755);
        ASSERT_EQ(::chmod(file.c_str(), 0755), 0);
    }

private:
    std::string before_ = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    std::filesystem::path real_;
    TemporaryDirectory directory_;
};

}  // namespace edgegpu::test
