#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "repository/check.hpp"
#include "repository/commit_view.hpp"
#include "repository/refs.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/ref_path.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using TableHandle = Handle<GHashTable, g_hash_table_unref>;

/// Shorter names are more likely misspelt refs than checksums.
constexpr std::size_t shortest_abbreviation = 4;
constexpr std::size_t hex_size = 64;

/// "a, b, c and 4 more"
std::string some_of(const std::vector<std::string>& names, std::size_t limit) {
    const std::size_t shown = std::min(limit, names.size());
    std::string text = fmt::format(
        "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < names.size()) {
        text += fmt::format(" and {} more", names.size() - shown);
    }
    return text;
}

}  // namespace

RepositoryView::RepositoryView(const std::filesystem::path& path) : path_(path.string()) {
    const auto none = [&](std::string_view what) {
        return error(ErrorKind::usage, "{}: {}", path_, what)
            .hinted("name the repository with --repo");
    };
    // What is checked is what is opened, even if the path leads elsewhere by then.
    const Fd directory(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory && errno == ENOENT) {
        throw none("no such directory");
    }
    for (const char* name : {"config", "objects", "refs/heads"}) {
        if (!directory || ::faccessat(directory.get(), name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
            throw none("not an ostree repository");
        }
    }
    check_repository(directory.get(), path_);
    GlibFailure failure;
    repo_ = RepoHandle(ostree_repo_open_at(directory.get(), ".", nullptr, failure.out()));
    if (!repo_) {
        throw failure.to_error(path_, "not an ostree repository that can be opened");
    }
}

bool RepositoryView::is_partial(const std::string& checksum) const {
    const std::string name = fmt::format("state/{}.commitpartial", checksum);
    return ::faccessat(ostree_repo_get_dfd(handle()), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

std::map<std::string, std::string> RepositoryView::refs() const {
    return read_refs(ostree_repo_get_dfd(repo_.get()), path_);
}

std::vector<std::string> RepositoryView::commits_like(const std::string& prefix) const {
    GlibFailure failure;
    GHashTable* listed = nullptr;
    if (ostree_repo_list_commit_objects_starting_with(repo_.get(), prefix.c_str(), &listed, nullptr,
                                                      failure.out()) == FALSE) {
        throw failure.to_error(path_, "cannot list the commits");
    }
    const TableHandle table(listed);
    std::vector<std::string> commits;
    GHashTableIter iterator;
    g_hash_table_iter_init(&iterator, listed);
    void* key = nullptr;
    while (g_hash_table_iter_next(&iterator, &key, nullptr) != FALSE) {
        const char* checksum = nullptr;
        OstreeObjectType type = OSTREE_OBJECT_TYPE_COMMIT;
        ostree_object_name_deserialize(static_cast<GVariant*>(key), &checksum, &type);
        commits.emplace_back(checksum);
    }
    std::ranges::sort(commits);
    return commits;
}

void RepositoryView::require_own_objects() const {
    if (ostree_repo_get_parent(repo_.get()) != nullptr) {
        throw error("{}: has a parent repository (parent in its config), which clients do not see",
                    path_)
            .hinted("publish to a repository of its own: edgegpu publish REF --to DIR");
    }
}

Error RepositoryView::unknown(const std::string& name,
                              const std::map<std::string, std::string>& refs) const {
    Error failure = error(ErrorKind::usage, "{}: no ref or commit \"{}\"", path_, name);
    const std::vector<std::string> near = nearest_names(name, keys_of(refs), 3);
    if (const std::string hint = hint_for_ref_path(name); !hint.empty()) {
        failure.hinted(hint);
    } else if (!near.empty()) {
        failure.hinted(fmt::format("did you mean {}?", fmt::join(near, " or ")));
    } else {
        failure.hinted(refs.empty() ? "the repository has no refs"
                                    : "existing refs: " + some_of(keys_of(refs), 6));
    }
    return failure;
}

std::string RepositoryView::parent_of(const std::string& checksum, const std::string& name) const {
    GlibFailure failure;
    std::string parent = commit_at(checksum, name).info().parent;
    if (parent.empty()) {
        throw error(ErrorKind::usage, "{}: {} is the first of its history and has no parent", path_,
                    name)
            .hinted("name two commits: edgegpu diff A B");
    }
    gboolean there = FALSE;
    if (ostree_repo_has_object(repo_.get(), OSTREE_OBJECT_TYPE_COMMIT, parent.c_str(), &there,
                               nullptr, failure.out()) == FALSE) {
        throw failure.to_error(path_, fmt::format("cannot read commit {}", parent));
    }
    if (there == FALSE) {
        throw error("{}: the parent of {}, commit {}, is not in the repository", path_, name,
                    parent)
            .hinted("it was pruned or never pulled; `ostree pull --depth=1` pulls parents as well");
    }
    return parent;
}

std::string RepositoryView::resolve(const std::string& name) const {
    std::string base = name;
    std::size_t parents = 0;
    while (base.ends_with('^')) {
        base.pop_back();
        ++parents;
    }
    const std::map<std::string, std::string> known = refs();
    std::string checksum;
    if (const auto ref = known.find(base); ref != known.end()) {
        checksum = ref->second;
    } else if (base.size() >= shortest_abbreviation && base.size() <= hex_size &&
               is_hexadecimal(base)) {
        const std::vector<std::string> commits = commits_like(base);
        if (commits.size() > 1) {
            throw error(ErrorKind::usage, "{}: \"{}\" is the beginning of {} commits", path_, base,
                        commits.size())
                .hinted("add digits: " + some_of(commits, 3));
        }
        checksum = commits.empty() ? "" : commits.front();
    }
    if (checksum.empty()) {
        throw unknown(base, known);
    }
    for (std::size_t i = 0; i < parents; ++i) {
        checksum = parent_of(checksum, base + std::string(i, '^'));
    }
    return checksum;
}

CommitView RepositoryView::commit_at(const std::string& checksum, const std::string& name) const {
    return CommitView(RepoHandle(OSTREE_REPO(g_object_ref(repo_.get()))), path_, name, checksum);
}

CommitView RepositoryView::open(const std::string& name) const {
    return commit_at(resolve(name), name);
}

}  // namespace edgegpu
