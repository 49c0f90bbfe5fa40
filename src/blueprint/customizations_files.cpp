#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blueprint/customizations.hpp"
#include "blueprint/ownership.hpp"
#include "blueprint/validate.hpp"

namespace edgegpu {

namespace {

/// `uri = "file:///…"`, a file of the builder.
std::filesystem::path read_source(const TableReader& table) {
    constexpr std::string_view scheme = "file://";
    if (!table.has("uri")) {
        return {};
    }
    const std::string uri = table.string("uri");
    if (table.has("data")) {
        throw error_at(table.location("uri"), "\"{}\" and \"{}\" are both given",
                       table.full_name("data"), table.full_name("uri"));
    }
    if (!uri.starts_with(scheme)) {
        throw error_at(table.location("uri"), "\"{}\" must begin with \"file://\", not \"{}\"",
                       table.full_name("uri"), uri)
            .hinted("a build downloads packages and nothing else: fetch the file first");
    }
    const std::string path = uri.substr(scheme.size());
    require_absolute_path(table.location("uri"), table.full_name("uri"), path);
    return path;
}

}  // namespace

void read_file_request(const TableReader& table, bool directory, Blueprint& blueprint) {
    FileRequest file;
    file.location = table.location();
    file.directory = directory;
    file.path = table.required_string("path");
    require_absolute_path(table.location("path"), table.full_name("path"), file.path);
    const std::string reason = unfit_path_reason(file.path);
    if (!reason.empty()) {
        throw error_at(table.location("path"), "an image cannot carry {}: {}", file.path, reason);
    }
    for (const FileRequest& earlier : blueprint.files) {
        if (earlier.path == file.path) {
            throw error_at(table.location("path"), "duplicate path \"{}\" (first at line {})",
                           file.path, earlier.location.line);
        }
    }
    file.user = read_owner(table, "user", "root");
    file.group = read_owner(table, "group", "root");
    file.mode = read_mode(table);
    if (directory) {
        file.ensure_parents = table.boolean("ensure_parents", false);
    } else {
        file.data = table.text("data");
        file.source = read_source(table);
    }
    table.finish();
    blueprint.files.push_back(std::move(file));
}

}  // namespace edgegpu
