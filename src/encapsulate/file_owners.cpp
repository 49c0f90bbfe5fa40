#include "encapsulate/file_owners.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "repository/package_database.hpp"
#include "sandbox/tool.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Run in a sandbox by sh, in a directory with the database: lines "=SOURCE RPM/NAME" and, for each
/// of the package's files, the path. No package has a slash in its name.
constexpr std::string_view list_packages =
    R"(exec rpm --dbpath "$PWD" -qa --nodigest --nosignature --qf '=%{SOURCERPM}/%{NAME}
[%{FILENAMES}
]' >list)";
constexpr const char* list_name = "list";

/// Where commits have what packages have elsewhere (docs/architecture.md), the former first; the
/// last are directories that are one in newer distributions.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> moved{{
    {"/usr/etc/", "/etc/"},
    {"/usr/lib/ostree-boot/", "/boot/"},
    {"/usr/lib/opt/", "/opt/"},
    {"/usr/bin/", "/bin/"},
    {"/usr/", "/"},
    {"/usr/bin/", "/usr/sbin/"},
    {"/usr/bin/", "/sbin/"},
}};

/// "systemd" of "systemd-252-1.el9.src.rpm".
std::string source_name(std::string_view source_rpm) {
    for (int dashes = 0; dashes < 2; ++dashes) {
        const std::size_t dash = source_rpm.rfind('-');
        if (dash == std::string_view::npos) {
            return {};
        }
        source_rpm = source_rpm.substr(0, dash);
    }
    return std::string(source_rpm);
}

/// The source package of "systemd-252-1.el9.src.rpm/systemd-udev"; of "(none)/gpg-pubkey" the name.
std::string owner_named(std::string_view line) {
    const std::size_t slash = std::min(line.find('/'), line.size());
    const std::string source = source_name(line.substr(0, slash));
    return source.empty() && slash < line.size() ? std::string(line.substr(slash + 1)) : source;
}

FileOwners parse_list(std::string_view lines) {
    std::unordered_map<std::string, std::string> owners;
    std::string source;
    while (!lines.empty()) {
        const std::string_view line = take_line(lines);
        if (line.starts_with('=')) {
            source = owner_named(line.substr(1));
        } else {
            // A path of several packages belongs to the first by name, whatever their order.
            std::string& owner = owners[std::string(line)];
            if (owner.empty() || source < owner) {
                owner = source;
            }
        }
    }
    return FileOwners(std::move(owners));
}

}  // namespace

std::string_view FileOwners::owner(std::string_view path) const {
    const auto owner_of = [&](const std::string& name) -> std::string_view {
        const auto found = owners_.find(name);
        return found == owners_.end() ? std::string_view() : std::string_view(found->second);
    };
    std::string_view owner = owner_of(std::string(path));
    for (const auto& [here, there] : moved) {
        if (owner.empty() && path.starts_with(here)) {
            owner = owner_of(std::string(there).append(path.substr(here.size())));
        }
    }
    return owner;
}

FileOwners read_file_owners(const Context& ctx, const CommitView& commit) {
    const auto unknown = [&](std::string_view why) {
        if (ctx.console != nullptr) {
            ctx.console->warn(
                fmt::format("{}: {}: layers are split by directories, not by "
                            "packages, so that updates are larger",
                            commit.info().name, why));
        }
        return FileOwners();
    };
    ToolCommand command;
    command.argv = {"sh", "-c", std::string(list_packages)};
    command.inputs = package_database(commit, list_name);
    command.outputs = {list_name};
    if (command.inputs.empty()) {
        return unknown("the commit has no package database");
    }
    const ToolResult result = run_tool(ctx, command);
    const auto list = result.files.find(list_name);
    FileOwners owners =
        result.status == 0 && list != result.files.end() ? parse_list(list->second) : FileOwners();
    return owners.empty() ? unknown("the commit's package database cannot be read") : owners;
}

}  // namespace edgegpu
