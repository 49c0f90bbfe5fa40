#include "blueprint/distro/host.hpp"

#include <cstdlib>
#include <system_error>

#include "blueprint/toml/validate.hpp"
#include "support/assignments.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Larger files are not settings.
constexpr std::uint64_t largest_setting = 64U << 10U;

/// The regular files of a directory, sorted by name; none if it cannot be read.
std::vector<fs::path> files_of(const fs::path& directory) {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : children_of(directory)) {
        std::error_code unreadable;
        if (entry.is_regular_file(unreadable)) {
            found.push_back(entry.path());
        }
    }
    return found;
}

/// The content of a regular file, or nothing if it cannot be read.
std::optional<std::string> content_of(const fs::path& path) {
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {
        return std::nullopt;
    }
    try {
        return read_file(path, largest_setting);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

fs::path host_root() {
    const char* root = std::getenv("EDGEGPU_HOST_ROOT");
    return root != nullptr && *root != '\0' ? fs::path(root) : fs::path("/");
}

std::optional<DistroName> host_distro() {
    std::optional<std::string> text = content_of(host_root() / "etc/os-release");
    if (!text) {
        text = content_of(host_root() / "usr/lib/os-release");
    }
    if (!text) {
        return std::nullopt;
    }
    const auto assigned = [&](std::string_view key) { return assigned_value(*text, key); };
    // Debian's name and version would parse as well, but it has no RPM packages.
    const std::string families = ' ' + assigned("ID") + ' ' + assigned("ID_LIKE") + ' ';
    const bool has_packages = families.find(" rhel ") != std::string::npos ||
                              families.find(" centos ") != std::string::npos ||
                              families.find(" fedora ") != std::string::npos;
    if (!has_packages) {
        return std::nullopt;
    }
    try {
        return split_distro({}, assigned("ID") + '-' + assigned("VERSION_ID"));
    } catch (const Error&) {
        return std::nullopt;
    }
}

std::vector<fs::path> host_repository_files() {
    std::vector<fs::path> files = files_of(host_root() / "etc/yum.repos.d");
    std::erase_if(files, [](const fs::path& file) { return file.extension() != ".repo"; });
    return files;
}

std::map<std::string, std::string, std::less<>> host_variables() {
    std::map<std::string, std::string, std::less<>> variables;
    for (const char* directory : {"etc/yum/vars", "etc/dnf/vars"}) {
        for (const fs::path& file : files_of(host_root() / directory)) {
            if (const auto text = content_of(file)) {
                const std::string value = text->substr(0, text->find_first_of("\r\n"));
                if (!has_control_characters(value)) {
                    variables[file.filename().string()] = value;
                }
            }
        }
    }
    return variables;
}

}  // namespace edgegpu
