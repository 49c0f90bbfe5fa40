#include "encapsulate/file_owners.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <rpm/header.h>
#include <rpm/rpmdb.h>
#include <rpm/rpmlib.h>
#include <rpm/rpmlog.h>
#include <rpm/rpmmacro.h>
#include <rpm/rpmpgp.h>
#include <rpm/rpmtd.h>
#include <rpm/rpmts.h>

#include "execution/child_call.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using DatabaseTransaction = Handle<rpmts_s, rpmtsFree>;
using DatabaseIterator = Handle<rpmdbMatchIterator_s, rpmdbFreeIterator>;

constexpr const char* database_directory = "/usr/share/rpm";
constexpr std::uint64_t largest_database = 512U << 20U;
constexpr std::size_t most_database_files = 32;
/// Of 700 packages, librpm needs 100 MiB and a second.
constexpr ChildLimits database_limits{1U << 30U, std::chrono::seconds(60)};

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

/// In the child: lines "=SOURCE" and, for each of its files, the path.
std::string list_packages(const fs::path& directory) {
    rpmInitCrypto();
    rpmlogSetMask(RPMLOG_UPTO(RPMLOG_EMERG));
    rpmPushMacro(nullptr, "_dbpath", nullptr, directory.c_str(), RMIL_CMDLINE);
    const DatabaseTransaction transaction(rpmtsCreate());
    rpmtsSetVSFlags(transaction.get(),
                    static_cast<rpmVSFlags>(RPMVSF_MASK_NODIGESTS | RPMVSF_MASK_NOSIGNATURES));
    const DatabaseIterator packages(rpmtsInitIterator(
        transaction.get(), static_cast<rpmDbiTagVal>(RPMDBI_PACKAGES), nullptr, 0));
    std::string lines;
    while (Header header = rpmdbNextIterator(packages.get())) {
        std::string source = source_name(text_of(headerGetString(header, RPMTAG_SOURCERPM)));
        lines += '=' + (source.empty() ? text_of(headerGetString(header, RPMTAG_NAME)) : source);
        lines += '\n';
        const Handle<rpmtd_s, rpmtdFree> files(rpmtdNew());
        if (headerGet(header, RPMTAG_FILENAMES, files.get(), HEADERGET_EXT) != 0) {
            while (const char* path = rpmtdNextString(files.get())) {
                lines.append(path).append("\n");
            }
        }
        rpmtdFreeData(files.get());
    }
    return lines;
}

FileOwners parse_list(std::string_view lines) {
    std::unordered_map<std::string, std::string> owners;
    std::string source;
    while (!lines.empty()) {
        const std::string_view line = take_line(lines);
        if (line.starts_with('=')) {
            source = line.substr(1);
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

/// Copies the files of the database; false if there are none.
bool copy_database(const CommitView& commit, const fs::path& scratch) {
    const std::optional<CommitNode> node = commit.find(database_directory);
    if (!node || !node->directory) {
        return false;
    }
    make_directories(scratch);
    std::size_t copied = 0;
    for (const auto& [name, file] : commit.list(*node, database_directory)) {
        const std::string path = fmt::format("{}/{}", database_directory, name);
        if (file.directory || copied == most_database_files) {
            continue;
        }
        if (const auto content = commit.read(path, largest_database)) {
            write_file(scratch / name, *content);
            ++copied;
        }
    }
    return copied > 0;
}

/// A directory that is removed in the end.
class DatabaseCopy {
public:
    explicit DatabaseCopy(fs::path path) : path_(std::move(path)) {}
    DatabaseCopy(const DatabaseCopy&) = delete;
    DatabaseCopy& operator=(const DatabaseCopy&) = delete;
    ~DatabaseCopy() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }

private:
    fs::path path_;
};

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

FileOwners read_file_owners(const Context& ctx, const CommitView& commit, const fs::path& scratch) {
    const DatabaseCopy copy(scratch);
    // librpm takes no relative path.
    const fs::path database = fs::absolute(scratch);
    const auto unknown = [&](std::string_view why) {
        if (ctx.console != nullptr) {
            ctx.console->warn(
                fmt::format("{}: {}: layers are split by directories, not by "
                            "packages, so that updates are larger",
                            commit.info().name, why));
        }
        return FileOwners();
    };
    if (!copy_database(commit, scratch)) {
        return unknown("the commit has no package database");
    }
    const ChildCall call =
        call_in_child(database_limits, [&database] { return list_packages(database); });
    FileOwners files =
        call.end == ChildCall::End::returned ? parse_list(call.result) : FileOwners();
    return files.empty() ? unknown("the commit's package database cannot be read") : files;
}

}  // namespace edgegpu
