#include "publish/summary_view.hpp"

#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <unistd.h>

#include "delta/delta_check.hpp"
#include "delta/static_delta.hpp"
#include "repository/refs.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Clients read at most so much (OSTREE_MAX_METADATA_SIZE).
constexpr std::uint64_t largest_file = 128ULL << 20U;

/// Of the delta "FROM-TO" or "TO"; empty if it has none.
std::string digest_of_delta(const RepositoryView& repository, const std::string& name) {
    const std::size_t dash = name.find('-');
    const std::string to = dash == std::string::npos ? name : name.substr(dash + 1);
    const std::string from = dash == std::string::npos ? "" : name.substr(0, dash);
    if (!is_sha256(to) || !(from.empty() || is_sha256(from))) {
        return {};
    }
    return superblock_digest(open_at(ostree_repo_get_dfd(repository.handle()), delta_path(from, to),
                                     O_RDONLY | O_DIRECTORY,
                                     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
}

}  // namespace

std::vector<std::string> differing_refs(const RepositoryView& repository,
                                        const SummaryView& summary) {
    std::vector<std::string> differing;
    if (!summary.exists) {
        return differing;
    }
    const std::map<std::string, std::string> refs = repository.refs();
    for (const auto& [ref, checksum] : refs) {
        const auto named = summary.refs.find(ref);
        // Refs of remotes are in none.
        if (ref.find(':') == std::string::npos && named == summary.refs.end()) {
            differing.push_back(fmt::format("lacks the ref {}", ref));
        } else if (named != summary.refs.end() && named->second != checksum) {
            differing.push_back(
                fmt::format("says that {} has {}, which has {}", ref, named->second, checksum));
        }
    }
    for (const auto& [ref, checksum] : summary.refs) {
        if (!refs.contains(ref)) {
            differing.push_back(fmt::format("names the ref {}, which is not there", ref));
        }
    }
    return differing;
}

std::vector<std::string> differing_deltas(const RepositoryView& repository,
                                          const std::map<std::string, std::string>& named) {
    std::vector<std::string> differing;
    for (const auto& [name, digest] : named) {
        const std::string found = digest_of_delta(repository, name);
        if (found.empty()) {
            differing.push_back(fmt::format("names the delta {}, which is not there", name));
        } else if (found != digest) {
            differing.push_back(fmt::format(
                "names another superblock of the delta {}: devices refuse the one that is there",
                name));
        }
    }
    return differing;
}

std::string file_of(const RepositoryView& repository, const std::string& name) {
    const Fd file = open_at(ostree_repo_get_dfd(repository.handle()), name, O_RDONLY | O_NONBLOCK,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (!file) {
        if (errno == ENOENT) {
            return {};
        }
        throw errno_error(repository.path() + '/' + name, errno);
    }
    return read_file(file.get(), repository.path() + '/' + name, largest_file);
}

SummaryView read_summary(const RepositoryView& repository) {
    SummaryView view;
    view.text = file_of(repository, "summary");
    view.exists = ::faccessat(ostree_repo_get_dfd(repository.handle()), "summary", F_OK,
                              AT_SYMLINK_NOFOLLOW) == 0;
    const VariantHandle summary =
        variant_from(G_VARIANT_TYPE(OSTREE_SUMMARY_GVARIANT_STRING), view.text);
    if (!view.exists || !summary) {
        return view;
    }
    view.readable = true;
    view.refs = refs_in_summary(view.text);
    const VariantHandle metadata(g_variant_get_child_value(summary.get(), 1));
    view.deltas = named_deltas(metadata.get());
    return view;
}

}  // namespace edgegpu
