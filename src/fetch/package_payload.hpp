#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "fetch/fetch.hpp"

namespace edgegpu {

/// A file of a package.
struct PayloadFile {
    /// As the payload has it: "./usr/share/x".
    std::string path;
    std::string content;
};

/// The files of a package with content whose path is `wanted`, at most `most` of them: nothing
/// after those is read. Throws ErrorKind::fetch naming the package for a payload that cannot be
/// read, and for a file of more than `size_limit` bytes.
[[nodiscard]] std::vector<PayloadFile> read_payload_files(
    const Context& ctx, const PackageFile& package,
    const std::function<bool(std::string_view)>& wanted, std::size_t size_limit, std::size_t most);

}  // namespace edgegpu
