#include <cerrno>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "repository/refs.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

/// Sets the ref. Throws Error if another process moved it since it was locked.
void move_ref(const Repo::Impl& repo, const std::string& checksum) {
    const std::string current = read_ref(repo.directory.get(), repo.path.string(), repo.ref);
    if (current != repo.ref_at_start) {
        throw error("{}: another process moved ref {} during this build, from {} to {}",
                    repo.path.string(), repo.ref,
                    repo.ref_at_start.empty() ? "nothing" : repo.ref_at_start,
                    current.empty() ? "nothing" : current)
            .hinted("build again; the new commit will have the new parent");
    }
    const std::string path = "refs/heads/" + repo.ref;
    const std::size_t slash = path.rfind('/');
    for (std::size_t end = path.find('/', path.find('/') + 1); end != std::string::npos;
         end = path.find('/', end + 1)) {
        repo.make_directory(path.substr(0, end));
    }
    const Fd parent = repo.open_directory(path.substr(0, slash));
    const std::string name = path.substr(slash + 1);
    struct stat status {};
    if (::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(status.st_mode)) {
        remove_at(parent.get(), name, repo.shown(path));  // of refs that are gone
    }
    if (!try_write_file_at(parent.get(), name, checksum + "\n", 0644, repo.fsync)) {
        throw write_error(repo.path.string(), repo.shown(path), errno);
    }
    if (repo.fsync) {
        static_cast<void>(::fsync(parent.get()));
    }
    // Clients that ask for the repository's time see that something has changed, as with ostree.
    static_cast<void>(::futimens(repo.directory.get(), nullptr));
}

}  // namespace

void require_place_of_ref(int repository, const std::filesystem::path& path,
                          const std::string& ref) {
    const std::string name = "refs/heads/" + ref;
    struct stat status {};
    if (::fstatat(repository, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(status.st_mode)) {
        throw error("{}: ref {} is an alias, which stands for another ref", path.string(), ref)
            .hinted(fmt::format("build that one, or delete the alias: ostree refs --repo={} "
                                "--delete {}",
                                shell_word(path.string()), ref));
    }
    for (const auto& [other, checksum] : read_refs(repository, path.string())) {
        if (ref.starts_with(other + '/') || other.starts_with(ref + '/')) {
            throw error(
                "{}: refs {} and {} exclude each other: one is a file where the other "
                "needs a directory",
                path.string(), other, ref)
                .hinted("choose another ref in [ostree]");
        }
    }
}

void set_ref(const Repo::Impl& repo, const std::string& checksum) {
    leave_summary_marker(repo, checksum);
    move_ref(repo, checksum);
}

}  // namespace edgegpu
