#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>

#include "commit/repository.hpp"
#include "delta/delta_check.hpp"
#include "delta/static_delta.hpp"
#include "execution/parallel.hpp"
#include "installer/commit_signature.hpp"
#include "openpgp/detached_signature.hpp"
#include "openpgp/key_file.hpp"
#include "publish/fsck.hpp"
#include "publish/summary_view.hpp"
#include "repository/object_files.hpp"
#include "repository/remote_config.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"

namespace edgegpu {

namespace {

constexpr const char* anew =
    "edgegpu publish --delta-from removes what is damaged, and makes it and the summary anew";
constexpr const char* summary_anew =
    "edgegpu publish makes it anew, and ostree summary --update; both sign it if they are told to";

/// While somebody writes; with pauses of 0.1, 0.2, 0.4, 0.8, 1.6 and 3.2 seconds.
constexpr int most_looks = 7;
constexpr std::chrono::milliseconds first_pause_between_looks{100};

Fd open_delta_at(const RepositoryView& repository, const std::string& path) {
    return open_at(ostree_repo_get_dfd(repository.handle()), path, O_RDONLY | O_DIRECTORY,
                   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/// Problems of one file, in words that follow its name.
void add_each(const std::vector<std::string>& faults, FsckProblem problem, FsckReport& report) {
    for (const std::string& fault : faults) {
        problem.what = "it " + fault;
        report.problems.push_back(problem);
    }
}

/// Whether those who verify the summary can. `image` is the one that they run.
void check_summary_signature(const Context& ctx, const CommitView& image,
                             const SummaryView& summary, const std::string& signatures,
                             FsckReport& report) {
    const auto add = [&](const RemoteConfig& remote, std::string_view setting,
                         std::string_view what) {
        const FsckProblem problem{
            "summary", "summary.sig",
            fmt::format("devices that follow {} verify the summary ({} of the remote {}): {}",
                        image.info().name, setting, remote.name, what),
            summary_anew, false};
        report.problems.push_back(problem);
    };
    const VariantHandle metadata = variant_from(G_VARIANT_TYPE("a{sv}"), signatures);
    const std::vector<std::string> made = signatures_of(metadata.get());
    const std::vector<std::string> others = signatures_of(metadata.get(), ed25519_signatures_key);
    constexpr std::string_view none = "it has no signature";
    constexpr std::string_view stranger = "no key of their image has signed it as it is";
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (takes_ed25519(remote.sign_verify_summary)) {
            const std::vector<std::string> keys = ed25519_keys_of(image, {}, remote);
            if (others.empty()) {
                add(remote, "sign-verify-summary", none);
            } else if (!keys.empty() &&
                       std::ranges::none_of(others, [&](const std::string& signature) {
                           return verifies_ed25519(keys, summary.text, signature);
                       })) {
                add(remote, "sign-verify-summary", stranger);
            }
        }
        if (!remote.verifies_summary) {
            continue;
        }
        if (made.empty()) {
            add(remote, "gpg-verify-summary", none);
            continue;
        }
        const std::vector<Certificate> keys = keys_of_remote(image, {}, remote.name);
        if (!keys.empty() && std::ranges::none_of(made, [&](const std::string& signature) {
                return check_detached_signature(ctx, summary.text, signature, keys).verdict ==
                       SignatureVerdict::good;
            })) {
            add(remote, "gpg-verify-summary", stranger);
        }
    }
}

void check_indexes(const RepositoryView& repository, const std::vector<std::string>& commits,
                   FsckReport& report) {
    for (const std::string& commit : commits) {
        const std::string path = index_path(commit);
        const std::string text = file_of(repository, path);
        const VariantHandle metadata = variant_from(G_VARIANT_TYPE("a{sv}"), text);
        const FsckProblem subject{"delta-index", path, "it cannot be read", summary_anew, false};
        if (!text.empty() && !metadata) {
            report.problems.push_back(subject);
        } else if (metadata) {
            add_each(differing_deltas(repository, named_deltas(metadata.get())), subject, report);
        }
    }
}

void check_summary(const Context& ctx, const RepositoryView& repository, FsckReport& report) {
    const SummaryView summary = read_summary(repository);
    const std::string signatures = file_of(repository, "summary.sig");
    const FsckProblem subject{"summary", "summary", "it cannot be read", summary_anew, false};
    if (summary.exists && !summary.readable) {
        report.problems.push_back(subject);
        return;
    }
    if (summary.exists) {
        add_each(differing_refs(repository, summary), subject, report);
        add_each(differing_deltas(repository, summary.deltas), subject, report);
    }
    const VariantHandle parsed = variant_from(G_VARIANT_TYPE("a{sv}"), signatures);
    if (!signatures.empty() && (!parsed || g_variant_n_children(parsed.get()) == 0)) {
        report.problems.push_back({"summary", "summary.sig",
                                   "it has no signatures that can be read", summary_anew, false});
    } else if (!signatures.empty() && !summary.exists) {
        report.problems.push_back({"summary", "summary.sig", "the summary that it signs is missing",
                                   summary_anew, false});
    }
    for (const CheckedRef& ref : report.refs) {
        try {
            check_summary_signature(ctx, repository.commit_at(ref.checksum, ref.ref), summary,
                                    signatures, report);
        } catch (const Error& failure) {
            // Of an image that is damaged, which is told above; else it has keys that nobody reads.
            if (failure.kind() == ErrorKind::interrupted) {
                throw;
            }
            report.problems.push_back(
                {"summary", "summary.sig",
                 fmt::format("whether devices that follow {} can verify it could not be checked: "
                             "{}",
                             ref.ref, failure.message()),
                 failure.hint(), false});
        }
    }
}

/// What writers change last, and one after the other.
struct Heads {
    std::map<std::string, std::string> refs;
    std::string summary;
    std::string signatures;

    bool operator==(const Heads&) const = default;
};

Heads heads_of(const RepositoryView& repository) {
    return {repository.refs(), file_of(repository, "summary"), file_of(repository, "summary.sig")};
}

}  // namespace

void check_deltas(const Context& ctx, const RepositoryView& repository,
                  const std::vector<std::string>& commits, FsckReport& report) {
    std::vector<DeltaDirectory> deltas =
        list_delta_directories(ostree_repo_get_dfd(repository.handle()), repository.path());
    std::erase_if(deltas, [&](const DeltaDirectory& delta) {
        return !delta.has_superblock || std::ranges::find(commits, delta.to) == commits.end();
    });
    std::vector<std::vector<std::string>> faults(deltas.size());
    parallel_for(ctx, deltas.size(), [&](std::size_t i) {
        faults[i] =
            delta_faults(open_delta_at(repository, deltas[i].path), deltas[i].from, deltas[i].to);
    });
    ctx.check_cancelled();
    report.deltas += deltas.size();
    for (std::size_t i = 0; i < deltas.size(); ++i) {
        for (const std::string& fault : faults[i]) {
            report.problems.push_back({"delta", deltas[i].path,
                                       fmt::format("the delta to {}: {}", deltas[i].to, fault),
                                       anew, false});
        }
    }
}

void warn_of_unreadable(const Context& ctx, const std::filesystem::path& repository, bool files) {
    namespace fs = std::filesystem;
    std::size_t count = 0;
    fs::path first;
    const auto look_at = [&](const fs::path& path) {
        std::error_code code;
        const fs::file_status status = fs::symlink_status(path, code);
        const bool directory = fs::is_directory(status);
        const fs::perms needed =
            directory ? fs::perms::others_read | fs::perms::others_exec : fs::perms::others_read;
        if ((directory || (files && fs::is_regular_file(status))) &&
            (status.permissions() & needed) != needed && count++ == 0) {
            first = path;
        }
        return directory;
    };
    look_at(repository);
    for (const char* name : {"config", "summary", "summary.sig"}) {
        look_at(repository / name);
    }
    for (const char* name : {"objects", "refs", "deltas", "delta-indexes"}) {
        if (!look_at(repository / name)) {
            continue;
        }
        std::error_code code;
        for (fs::recursive_directory_iterator it(repository / name, code), end; it != end && !code;
             it.increment(code)) {
            ctx.check_cancelled();
            if (files || it->is_directory(code)) {
                look_at(it->path());
            }
        }
    }
    if (count != 0) {
        ctx.console->warn(fmt::format(
            "{}: only their owner or group can read {} of the files and directories that devices "
            "ask for ({}): a web server that runs as somebody else refuses them; chmod -R a+rX",
            repository.string(), count, fs::relative(first, repository).string()));
    }
}

void check_indexes_and_summary(const Context& ctx, const RepositoryView& repository,
                               const std::vector<std::string>& commits, FsckReport& report) {
    auto pause = first_pause_between_looks;
    for (int look = 1;; ++look) {
        const Heads before = heads_of(repository);
        FsckReport found;
        found.refs = report.refs;
        check_indexes(repository, commits, found);
        check_summary(ctx, repository, found);
        const bool settled = !is_summary_under_way(ostree_repo_get_dfd(repository.handle())) &&
                             heads_of(repository) == before;
        if (found.problems.empty() || settled || look == most_looks) {
            std::ranges::move(found.problems, std::back_inserter(report.problems));
            return;
        }
        ctx.check_cancelled();
        std::this_thread::sleep_for(pause);
        pause *= 2;
    }
}

}  // namespace edgegpu
