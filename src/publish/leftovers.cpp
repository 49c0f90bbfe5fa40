#include "publish/leftovers.hpp"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/proc_file.hpp"
#include "support/glib.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view prefix = "edgegpu-";
constexpr std::string_view partial_suffix = ".commitpartial";

/// Where the name of the ref ends in that of an entry of tmp/: "edgegpu-REF@PID.delta", of earlier
/// versions "edgegpu-REF-PID".
std::size_t end_of_ref(std::string_view name) {
    const std::size_t at = name.rfind('@');
    return at == std::string_view::npos || at <= prefix.size() ? name.rfind('-') : at;
}

/// Whether a process of this machine has the number behind the ref in such a name.
bool is_of_running_process(std::string_view name) {
    return name.starts_with(prefix) && is_running_process(name.substr(end_of_ref(name) + 1));
}

std::vector<std::string> old_names(const RepositoryView& repository, const std::string& directory,
                                   std::int64_t before) {
    const Fd opened = open_at(ostree_repo_get_dfd(repository.handle()), directory,
                              O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (!opened && errno == ENOENT) {
        return {};
    }
    const auto names = names_in(
        opened ? Fd(::openat(opened.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : Fd());
    if (!names) {
        // Somebody else's: what is in it is told to nobody.
        if (errno == EACCES) {
            return {};
        }
        throw errno_error(repository.path() + '/' + directory, errno);
    }
    std::vector<std::string> old;
    for (const std::string& name : *names) {
        struct stat status {};
        if (::fstatat(opened.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_mtim.tv_sec <= before) {
            old.push_back(name);
        }
    }
    return old;
}

}  // namespace

LeftoverFiles list_leftovers(const RepositoryView& repository, std::int64_t now, std::int64_t age) {
    LeftoverFiles leftovers;
    for (const std::string& name : old_names(repository, "tmp", now - age)) {
        // libostree's own cache of summaries.
        if (name != "cache" && !is_of_running_process(name)) {
            leftovers.temporary.push_back("tmp/" + name);
        }
    }
    for (const std::string& name : old_names(repository, "state", now - age)) {
        if (name.ends_with(partial_suffix)) {
            leftovers.partial.push_back("state/" + name);
        }
    }
    return leftovers;
}

std::string lock_of_temporary(const std::string& name) {
    const std::size_t end = end_of_ref(name);
    if (!name.starts_with(prefix) || end == std::string::npos || end <= prefix.size()) {
        return {};
    }
    return name.substr(prefix.size(), end - prefix.size()) + ".lock";
}

std::map<std::string, std::string> named_commits(const RepositoryView& repository) {
    std::map<std::string, std::string> named = repository.refs();
    GlibFailure failure;
    GHashTable* table = nullptr;
    if (ostree_repo_list_collection_refs(repository.handle(), nullptr, &table,
                                         OSTREE_REPO_LIST_REFS_EXT_NONE, nullptr,
                                         failure.out()) == FALSE) {
        throw failure.to_error(repository.path(), "cannot list the refs of collections");
    }
    const Handle<GHashTable, g_hash_table_unref> owned(table);
    GHashTableIter iterator;
    g_hash_table_iter_init(&iterator, table);
    gpointer key = nullptr;
    gpointer value = nullptr;
    while (g_hash_table_iter_next(&iterator, &key, &value) != FALSE) {
        const auto* ref = static_cast<const OstreeCollectionRef*>(key);
        const std::string checksum = static_cast<const char*>(value);
        const auto own = named.find(ref->ref_name);
        if (ref->collection_id != nullptr && (own == named.end() || own->second != checksum)) {
            named.emplace(fmt::format("{}:{}", ref->collection_id, ref->ref_name), checksum);
        }
    }
    return named;
}

void require_archive(const RepositoryView& repository, const std::string& command) {
    if (ostree_repo_get_mode(repository.handle()) != OSTREE_REPO_MODE_ARCHIVE) {
        throw error(
            "{}: edgegpu {} works on repositories in archive mode alone, as web servers "
            "have them",
            repository.path(), command)
            .hinted(fmt::format("ostree {} --repo={} works on all", command,
                                shell_word(repository.path())));
    }
    repository.require_own_objects();
}

}  // namespace edgegpu
