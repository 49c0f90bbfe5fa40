#include "parent/parent_packages.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <rpm/rpmpgp.h>
#include <sys/stat.h>

#include "repository/package_database.hpp"
#include "sandbox/tool.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_export = 2048ULL << 20U;
constexpr const char* export_name = "headers";

/// Precedes each header that `rpmdb --exportdb` writes.
constexpr std::string_view header_magic("\x8e\xad\xe8\x01\0\0\0\0", 8);
/// Of the rest, the number of index entries and of bytes of data, both big-endian.
constexpr std::size_t numbers_size = 8;
constexpr std::size_t index_entry_size = 16;
constexpr std::uint64_t largest_header = 256U << 20U;

std::uint32_t number_at(std::string_view text, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        number = number << 8U | std::uint32_t{static_cast<unsigned char>(text[at + i])};
    }
    return number;
}

std::vector<std::string> split_export(std::string_view text, const std::string& name) {
    std::vector<std::string> headers;
    while (!text.empty()) {
        if (text.size() < header_magic.size() + numbers_size || !text.starts_with(header_magic)) {
            throw error("{}: rpmdb --exportdb wrote something that is no header", name);
        }
        text.remove_prefix(header_magic.size());
        const std::uint64_t size = numbers_size +
                                   std::uint64_t{number_at(text, 0)} * index_entry_size +
                                   number_at(text, 4);
        if (size > text.size() || size > largest_header) {
            throw error("{}: a header of its package database is cut off", name);
        }
        headers.emplace_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return headers;
}

std::string owned_text(const char* text) {
    return text == nullptr ? "" : text;
}

std::vector<ImportedFile> files_of(Header header, const std::string& package) {
    const RpmFiles files(rpmfilesNew(nullptr, header, RPMTAG_BASENAMES, RPMFI_KEEPHEADER));
    std::vector<ImportedFile> result;
    const int count = files ? static_cast<int>(rpmfilesFC(files.get())) : 0;
    for (int i = 0; i < count; ++i) {
        ImportedFile file;
        const Handle<char, std::free> path(rpmfilesFN(files.get(), i));
        file.path = owned_text(path.get());
        check_package_path(package, file.path);
        file.flags = rpmfilesFFlags(files.get(), i);
        file.user = owned_text(rpmfilesFUser(files.get(), i));
        file.group = owned_text(rpmfilesFGroup(files.get(), i));
        const mode_t mode = rpmfilesFMode(files.get(), i);
        file.entry.mode = mode & 07777U;
        file.entry.type = S_ISDIR(mode)   ? EntryType::directory
                          : S_ISLNK(mode) ? EntryType::symlink
                                          : EntryType::file;
        int algorithm = 0;
        std::size_t length = 0;
        const unsigned char* digest = rpmfilesFDigest(files.get(), i, &algorithm, &length);
        if (file.entry.type == EntryType::file && digest != nullptr &&
            algorithm == PGPHASHALGO_SHA256 && length == 32) {
            file.entry.digest = hexadecimal({reinterpret_cast<const char*>(digest), length});
        }
        result.push_back(std::move(file));
    }
    return result;
}

Nevra nevra_of(Header header) {
    Nevra nevra;
    nevra.name = header_string(header, RPMTAG_NAME);
    nevra.epoch = static_cast<std::uint32_t>(header_number(header, RPMTAG_EPOCH));
    nevra.version = header_string(header, RPMTAG_VERSION);
    nevra.release = header_string(header, RPMTAG_RELEASE);
    nevra.arch = header_string(header, RPMTAG_ARCH);
    return nevra;
}

}  // namespace

std::vector<std::string> read_headers(const Context& ctx, const CommitView& commit,
                                      const std::string& name) {
    ToolCommand command;
    command.argv = {"sh", "-c",
                    fmt::format("exec rpmdb --dbpath \"$PWD\" --exportdb >{}", export_name)};
    command.inputs = package_database(commit, export_name);
    command.outputs = {export_name};
    command.output_limit = largest_export;
    if (command.inputs.empty()) {
        throw error(ErrorKind::usage, "{} has no package database in /usr/share/rpm", name)
            .hinted("a layer needs a parent that consists of packages");
    }
    const ToolResult result = run_tool(ctx, command);
    const auto exported = result.files.find(export_name);
    if (result.status != 0 || exported == result.files.end() || exported->second.empty()) {
        Error failure = error("{}: its package database cannot be read", name);
        for (std::string& line : last_lines(result.output, 5)) {
            failure.traced(std::move(line));
        }
        throw failure.hinted(
            "the parent is damaged, or the builder's rpm does not know the "
            "format of its database");
    }
    return split_export(exported->second, name);
}

std::vector<ImportedPackage> packages_of(const std::vector<std::string>& headers,
                                         const std::string& name) {
    std::vector<ImportedPackage> packages;
    for (const std::string& blob : headers) {
        ImportedPackage package;
        package.header = load_header(blob, "of " + name);
        package.nevra = nevra_of(package.header.get());
        if (package.nevra.name == "gpg-pubkey") {
            continue;
        }
        package.sha256 = sha256_hex(blob);
        package.files = files_of(package.header.get(), package.nevra.text());
        packages.push_back(std::move(package));
    }
    return packages;
}

}  // namespace edgegpu
