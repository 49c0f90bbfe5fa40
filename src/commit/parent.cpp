#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "repository/commit_view.hpp"
#include "repository/refs.hpp"
#include "repository/remote_config.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

/// No image has so many accounts.
constexpr std::uint64_t largest_account_file = 16U << 20U;

/// Content of a file of a commit, ending with a newline; empty if it does not exist.
std::string committed_file(const CommitView& commit, const char* path) {
    std::string content = commit.read(path, largest_account_file).value_or("");
    if (!content.empty() && content.back() != '\n') {
        content += '\n';
    }
    return content;
}

/// The version of a package, by the package list of the commit's metadata; empty: it has none.
std::string package_version(const CommitInfo& info, std::string_view name) {
    for (const Nevra& package : info.packages.value_or(std::vector<Nevra>())) {
        if (package.name == name) {
            return package.version;
        }
    }
    return {};
}

/// How much of a commit is read: one that was not made by edgegpu may have any number of
/// directories, since one object can be many of them.
struct ReadingLimits {
    std::size_t entries;
    std::uint64_t bytes;
};

constexpr ReadingLimits manifests_limits{8192, 64U << 20U};
constexpr ReadingLimits config_limits{1024, 4U << 20U};
constexpr unsigned most_levels = 32;

/// Reads files of a commit, up to limits.
class ReadingFiles {
public:
    /// Files whose names end otherwise than in `suffix` are passed over.
    ReadingFiles(const CommitView& commit, ReadingLimits limits, std::string_view suffix = {})
        : commit_(commit), limits_(limits), suffix_(suffix) {}

    /// `path` is that on a device, of a file or directory; nothing is read if there is none.
    void read(const std::string& path) {
        const std::string committed = (path.starts_with("/etc/") ? "/usr" : "") + path;
        if (const std::optional<CommitNode> found = commit_.find(committed)) {
            read(*found, path, 0);
        }
    }

    std::map<std::string, std::string> take() { return std::move(files_); }

private:
    [[nodiscard]] Error refused(const std::string& path, std::string_view why) const {
        return error("{} of commit {}: {}", path, commit_.info().checksum, why);
    }
    [[nodiscard]] Error too_much(const std::string& path) const {
        return refused(path, fmt::format("more than {} files and directories, or {} MiB",
                                         limits_.entries, limits_.bytes >> 20U));
    }

    // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
    void read(const CommitNode& node, const std::string& path, unsigned level) {
        if (++entries_ > limits_.entries) {
            throw too_much(path);
        }
        if (level > most_levels) {
            throw refused(path, "more than 32 directories in each other");
        }
        if (node.directory) {
            for (const auto& [name, child] : commit_.list(node, path)) {
                read(child, path + '/' + name, level + 1);
            }
        } else if (path.ends_with(suffix_)) {
            read_content(node, path);
        }
    }

    void read_content(const CommitNode& node, const std::string& path) {
        const std::uint64_t left = limits_.bytes - bytes_;
        // The commit may lie about its size, so that what is read is limited as well.
        if (commit_.describe(node, path).size > left) {
            throw too_much(path);
        }
        if (std::optional<std::string> content = commit_.read(node, path, left)) {
            bytes_ += content->size();
            files_[path] = *std::move(content);
        }
    }

    const CommitView& commit_;
    ReadingLimits limits_;
    std::string_view suffix_;
    std::map<std::string, std::string> files_;
    std::size_t entries_ = 0;
    std::uint64_t bytes_ = 0;
};

/// The files of MicroShift's configuration into `parent`, or why they cannot be read.
void read_microshift_config(const CommitView& commit, Parent& parent) {
    try {
        ReadingFiles reading(commit, config_limits, ".yaml");
        reading.read("/etc/microshift/config.yaml");
        reading.read("/etc/microshift/config.d");
        parent.microshift_config = reading.take();
    } catch (const Error& failure) {
        parent.microshift_config_problem = failure.message();
    }
}

/// Without an object of the parent nothing is known of its keys: devices that have it have all of
/// them.
void read_device_keys(const CommitView& commit, Parent& parent) {
    try {
        ReadingFiles reading(commit, config_limits);
        reading.read("/etc/pki/edgegpu");
        parent.device_keys = reading.take();
    } catch (const Error&) {
        parent.device_keys.clear();
    }
}

/// What cannot be read is told when it is needed.
void read_device_remotes(const CommitView& commit, Parent& parent) {
    try {
        ReadingFiles reading(commit, config_limits, ".conf");
        reading.read("/etc/ostree/remotes.d");
        for (const auto& [path, text] : reading.take()) {
            std::ranges::move(read_remotes(text), std::back_inserter(parent.remotes));
        }
    } catch (const Error&) {
        parent.remotes.clear();
    }
}

Parent load_parent(const CommitView& commit) {
    const CommitInfo& info = commit.info();
    // Of the last two, an image has one: that for snapshots /etc.
    const auto all = [&](const char* base, const char* local, const char* plain) {
        return committed_file(commit, base) + committed_file(commit, local) +
               committed_file(commit, plain);
    };
    Parent parent;
    parent.checksum = info.checksum;
    parent.inputs_digest = info.inputs_digest;
    parent.time = info.time;
    parent.version = info.version;
    parent.accounts.passwd = all("/usr/lib/passwd", "/usr/etc/passwd", "/etc/passwd");
    parent.accounts.group = all("/usr/lib/group", "/usr/etc/group", "/etc/group");
    parent.microshift = package_version(info, "microshift");
    if (!parent.microshift.empty()) {
        read_microshift_config(commit, parent);
    }
    read_device_keys(commit, parent);
    read_device_remotes(commit, parent);
    return parent;
}

}  // namespace

std::string find_commit(const Repo::Impl& repo, const std::string& name) {
    std::set<std::string> pulled;
    for (const auto& [ref, checksum] : read_refs(repo.directory.get(), repo.path.string())) {
        if (ref == name) {
            return checksum;
        }
        if (ref.ends_with(':' + name)) {
            pulled.insert(checksum);
        }
    }
    if (pulled.size() > 1) {
        throw error(ErrorKind::usage, "{}: several remotes have a ref {}, with different commits",
                    repo.path.string(), name)
            .hinted("name one of them in [ostree] parent, as \"REMOTE:REF\"");
    }
    return pulled.empty() ? "" : *pulled.begin();
}

std::map<std::string, std::string> read_manifests(const Repo& repo, const std::string& checksum) {
    const CommitView commit = repo.impl().view().commit_at(checksum, checksum);
    ReadingFiles reading(commit, manifests_limits);
    for (const char* top : {"/etc/microshift", "/usr/lib/microshift"}) {
        for (const char* name : {"manifests", "manifests.d"}) {
            reading.read(fmt::format("{}/{}", top, name));
        }
    }
    return reading.take();
}

std::optional<Parent> read_parent(const Context& ctx, const Repo& repo, const OstreeRequest& ostree,
                                  Signer& signer) {
    const Repo::Impl& impl = repo.impl();
    const Fd locks = impl.open_directory(locks_directory);
    if (::faccessat(locks.get(), impl.summary_marker().c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        // A build has set the ref, and could not update the summary, or was killed before.
        if (const auto reason = reason_of_failure([&] { update_summary(ctx, impl, signer); })) {
            ctx.check_cancelled();
            ctx.console->warn(
                fmt::format("{}: the summary is not up to date since an earlier "
                            "build of ref {}: {}",
                            impl.path.string(), impl.ref, *reason));
        }
    }
    const bool named = !ostree.parent.empty();
    std::string checksum = find_commit(impl, named ? ostree.parent : impl.ref);
    if (checksum.empty() && named) {
        try {
            // an abbreviated checksum, or with ^
            checksum = impl.view().open(ostree.parent).info().checksum;
        } catch (const Error& failure) {
            if (failure.kind() != ErrorKind::usage) {
                throw;
            }
            throw error(ErrorKind::usage,
                        "{}: no commit or ref \"{}\", which [ostree] parent names",
                        impl.path.string(), ostree.parent)
                .hinted("pull it into the repository first, or omit `parent`");
        }
    }
    if (checksum.empty()) {
        return std::nullopt;
    }
    try {
        return load_parent(impl.view().commit_at(checksum, checksum));
    } catch (Error& failure) {
        throw failure.hinted(
            "the repository is damaged: check it with `ostree fsck`, pull the commit again, or "
            "name another parent in [ostree] parent");
    }
}

}  // namespace edgegpu
