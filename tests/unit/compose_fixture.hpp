#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../support/rpm_fixture.hpp"
#include "compose/compose.hpp"
#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "log/console.hpp"
#include "rootfs/import.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu::test {

/// A cache and a directory of RPMs of its own, for tests of the compose stage.
class ComposeFixture {
public:
    ComposeFixture() {
        context.cache = directory.path() / "cache";
        context.console = &console;
        context.source_date_epoch = 1700000000;
        context.jobs = 2;
        std::filesystem::create_directories(context.cache);
    }

    /// Builds a package of version 1-1 and returns it as the fetch stage would.
    PackageFile build(const std::string& name, const std::string& rest,
                      const std::string& header = "") {
        build_rpm(directory.path() / "repo", simple_spec(name, "1", "1", header, rest));
        return package(name);
    }

    /// The package as it lies on disk now.
    [[nodiscard]] PackageFile package(const std::string& name) const {
        PackageFile file;
        file.path = rpm(name);
        file.package.nevra = {name, 0, "1", "1", "x86_64"};
        file.sha256 = sha256_file(file.path);
        file.package.checksum = {ChecksumAlgorithm::sha256, file.sha256};
        file.package.size = std::filesystem::file_size(file.path);
        file.content = std::make_shared<const PackageContent>(file.path);
        return file;
    }

    [[nodiscard]] std::filesystem::path rpm(const std::string& name) const {
        return directory.path() / "repo" / "Packages" / (name + "-1-1.x86_64.rpm");
    }

    TemporaryDirectory directory;
    Console console{Color::never, true};
    Context context;
};

/// The message of the Error that `work` throws; "" if it throws none.
template <typename Work>
std::string error_message(Work&& work) {
    try {
        work();
    } catch (const Error& problem) {
        return problem.message();
    }
    return "";
}

}  // namespace edgegpu::test
