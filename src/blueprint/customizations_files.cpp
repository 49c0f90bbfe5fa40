#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blueprint/customizations.hpp"
#include "blueprint/validate.hpp"

namespace edgegpu {

namespace {

std::optional<unsigned> read_mode(const TableReader& table) {
    if (!table.has("mode")) {
        return std::nullopt;
    }
    const std::string text = table.string("mode");
    const bool octal = !text.empty() && text.size() <= 5 &&
                       text.find_first_not_of("01234567") == std::string::npos;
    const unsigned long mode = octal ? std::stoul(text, nullptr, 8) : 010000UL;
    if (mode > 07777UL) {
        throw error_at(table.location("mode"),
                       "\"{}\" must be an octal number as a string, not \"{}\"",
                       table.full_name("mode"), text)
            .hinted("as in mode = \"0644\"");
    }
    return static_cast<unsigned>(mode);
}

std::string read_owner(const TableReader& table, std::string_view key) {
    std::string owner = table.string_or_integer(key, "root");
    const bool number = owner.find_first_not_of("0123456789") == std::string::npos;
    if (owner.empty() || !number) {
        require_account_name(table.location(key), key, owner);
    }
    return owner;
}

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
    file.user = read_owner(table, "user");
    file.group = read_owner(table, "group");
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
