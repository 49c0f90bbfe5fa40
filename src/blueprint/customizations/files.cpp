#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "blueprint/customizations/customizations.hpp"
#include "blueprint/tables/ownership.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"
#include "support/text/percent_encoding.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// `uri = "file:///…"`, a file of the build machine.
std::filesystem::path read_source(const TableReader& table) {
    constexpr std::string_view scheme = "file://";
    if (!table.has("uri")) {
        return {};
    }
    const std::string uri = table.string("uri");
    if (table.has("data")) {
        throw error_at(table, "uri", "\"{}\" and \"{}\" are both given", table.full_name("data"),
                       table.full_name("uri"));
    }
    if (!uri.starts_with(scheme)) {
        throw error_at(table, "uri", "\"{}\" must begin with \"file://\", not \"{}\"",
                       table.full_name("uri"), url_to_show(uri))
            .hinted("a build downloads packages and nothing else: fetch the file first");
    }
    const std::string path = percent_decoded(uri.substr(scheme.size()));
    require_absolute_path(table.location("uri"), table.full_name("uri"), path);
    return path;
}

/// Paths that a blueprint must not write, and what to use instead. Image builder rejects the first
/// four; the others are backups, other locations of the same data, and the rpm database.
struct DeniedPath {
    std::string_view path;
    std::string_view instead;
};

constexpr std::string_view user_table = "use [[customizations.user]]";
constexpr std::string_view group_table = "use [[customizations.group]]";
constexpr std::array<DeniedPath, 12> denied_paths{{
    {"/etc/fstab",
     "a commit has no partitions: mount with a .mount unit ([[systemd.units]]), or when the "
     "device is installed"},
    {"/etc/shadow", user_table},
    {"/etc/passwd", user_table},
    {"/etc/group", group_table},
    {"/etc/gshadow", group_table},
    {"/etc/shadow-", user_table},
    {"/etc/passwd-", user_table},
    {"/etc/group-", group_table},
    {"/etc/gshadow-", group_table},
    {"/usr/lib/passwd", user_table},
    {"/usr/lib/group", group_table},
    {"/usr/lib/sysimage", "the rpm database is made from the packages"},
}};

void require_allowed_path(const SourceLocation& location, const std::string& path) {
    for (const DeniedPath& denied : denied_paths) {
        if (is_below(path, denied.path)) {
            throw error_at(location, "{} cannot be written by a blueprint", path)
                .hinted(std::string(denied.instead));
        }
    }
    const std::string reason = unfit_path_reason(path);
    if (!reason.empty()) {
        throw error_at(location, "an image cannot carry {}: {}", path, reason);
    }
}

/// Whether image builder accepts the path in a commit (its path policies).
bool image_builder_takes(const std::string& path, bool directory) {
    return is_below(path, "/etc") ||
           (!directory && (is_below(path, "/root") || is_below(path, "/usr/local/bin") ||
                           is_below(path, "/usr/local/sbin")));
}

}  // namespace

void read_file_request(const TableReader& table, bool directory, Blueprint& blueprint) {
    FileRequest file;
    file.location = table.location();
    file.directory = directory;
    for (const auto& [key, owner] : {std::pair{"user", &file.user}, {"group", &file.group}}) {
        if (table.has(key)) {
            table.attempt(
                [&, name = key, said = owner] { *said = read_owner(table, name, "root"); });
        }
    }
    table.attempt([&] { file.mode = read_mode(table); });
    if (directory) {
        file.ensure_parents = table.boolean("ensure_parents", false);
    } else {
        file.data = table.text("data");
        table.attempt([&] { file.source = read_source(table); });
    }
    table.finish({"path"});
    file.path = table.required_string("path");
    const SourceLocation at = table.location("path");
    require_absolute_path(at, table.full_name("path"), file.path);
    require_allowed_path(at, file.path);
    require_new(blueprint.files, &FileRequest::path, file, at, "path");
    if (!image_builder_takes(file.path, directory)) {
        blueprint.notes.push_back(
            fmt::format("{}: {} is a path that edgegpu writes and image builder refuses", at.text(),
                        shortened(file.path)));
    }
    blueprint.files.push_back(std::move(file));
}

}  // namespace edgegpu
