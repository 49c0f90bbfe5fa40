#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/text.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* locks_directory = "edgegpu-locks";

Error cannot_write(const fs::path& path, int code) {
    if (code == ENOSPC || code == EDQUOT) {
        return disk_full(path.string());
    }
    return error("{}: cannot write to the repository: {}", path.string(), std::strerror(code))
        .hinted("give a directory you may write to with --repo");
}

// libostree creates `objects` last: a repository without it is incomplete.
bool is_repository(const fs::path& path) {
    std::error_code code;
    return fs::is_directory(path / "objects", code) && fs::is_regular_file(path / "config", code);
}

void make_tree_readable(const fs::path& path) {
    ::chmod(path.c_str(), 0755);
    for (const auto& item : fs::recursive_directory_iterator(path)) {
        if (!item.is_symlink()) {
            ::chmod(item.path().c_str(), item.is_directory() ? 0755 : 0644);
        }
    }
}

void create_repository(const fs::path& path, OstreeRepo* repo) {
    std::error_code code;
    fs::create_directories(path, code);
    if (code) {
        throw cannot_write(path, code.value());
    }
    // Several builds may find it missing at the same time: only one creates it.
    const Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory || ::flock(directory.get(), LOCK_EX) != 0) {
        throw errno_error(path.string(), errno);
    }
    if (is_repository(path)) {
        return;
    }
    const bool begun = fs::exists(path / "config", code);
    if (!begun && !fs::is_empty(path, code)) {
        throw error("{}: not an ostree repository, and not empty", path.string())
            .hinted("give an empty or absent directory, or an archive repository, with --repo");
    }
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
        throw cannot_write(path, errno);
    }
    GlibFailure failure;
    if (ostree_repo_create(repo, OSTREE_REPO_MODE_ARCHIVE, nullptr, failure.out()) == FALSE) {
        throw failure.to_error(path.string(), "cannot create the repository");
    }
    make_tree_readable(path);
}

void open_repository(Repo::Impl& repo) {
    const FileHandle file(g_file_new_for_path(repo.path.c_str()));
    repo.ostree = RepoHandle(ostree_repo_new(file.get()));
    if (!is_repository(repo.path)) {
        create_repository(repo.path, repo.ostree.get());
        repo.ostree = RepoHandle(ostree_repo_new(file.get()));
    }
    GlibFailure failure;
    if (ostree_repo_open(repo.ostree.get(), nullptr, failure.out()) == FALSE) {
        throw failure.to_error(repo.path.string(), "cannot open the repository");
    }
    GKeyFile* config = ostree_repo_get_config(repo.ostree.get());
    if (ostree_repo_get_mode(repo.ostree.get()) != OSTREE_REPO_MODE_ARCHIVE) {
        const TextHandle mode(g_key_file_get_string(config, "core", "mode", nullptr));
        throw error("{}: the repository's mode is {}, not archive", repo.path.string(),
                    mode ? mode.get() : "unknown")
            .hinted(
                "give an absent directory with --repo, or create one with `ostree init "
                "--mode=archive`");
    }
    for (const char* name : {"", "objects", "tmp", "refs/heads"}) {
        if (::faccessat(AT_FDCWD, (repo.path / name).c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
            throw cannot_write(repo.path, errno);
        }
    }
    if (g_key_file_has_key(config, "core", "fsync", nullptr) != FALSE) {
        repo.fsync = g_key_file_get_boolean(config, "core", "fsync", nullptr) != FALSE;
    }
}

void lock_ref(Repo::Impl& repo) {
    const fs::path directory = repo.path / locks_directory;
    if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
        throw cannot_write(repo.path, errno);
    }
    const fs::path path = directory / (repo.ref_file + ".lock");
    repo.lock = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!repo.lock) {
        throw cannot_write(repo.path, errno);
    }
    if (::flock(repo.lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            throw errno_error(path.string(), errno);
        }
        std::string pid = read_file(path, 64);
        pid.resize(trim_end(pid).size());
        throw error("{}: another build (pid {}) is writing ref {}", repo.path.string(),
                    pid.empty() ? "unknown" : pid, repo.ref)
            .hinted("wait for it to end, or build into another repository with --repo");
    }
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(repo.lock.get(), 0) != 0 ||
        ::pwrite(repo.lock.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        throw cannot_write(repo.path, errno);
    }
}

// Only those of this ref: others may belong to a running build.
void remove_leftovers(const Repo::Impl& repo) {
    std::vector<fs::path> leftovers;
    for (const auto& item : fs::directory_iterator(repo.path / "tmp")) {
        if (item.path().filename().string().starts_with(repo.staging_prefix())) {
            leftovers.push_back(item.path());
        }
    }
    for (const fs::path& leftover : leftovers) {
        remove_tree(leftover);
    }
}

std::string file_name(const std::string& ref) {
    std::string name;
    for (const char c : ref) {
        name += c == '/' ? "%2F" : std::string(1, c);
    }
    return name;
}

}  // namespace

fs::path Repo::Impl::summary_marker() const {
    return path / locks_directory / (ref_file + ".summary");
}

Repo::Repo(const Context& ctx, const fs::path& path, const std::string& ref)
    : impl_(std::make_unique<Impl>()) {
    ctx.check_cancelled();
    GlibFailure failure;
    if (ostree_validate_rev(ref.c_str(), failure.out()) == FALSE) {
        throw error(ErrorKind::usage, "\"{}\" is not a valid ref: {}", ref, failure.get()->message);
    }
    impl_->path = fs::absolute(path).lexically_normal();
    impl_->ref = ref;
    impl_->ref_file = file_name(ref);
    open_repository(*impl_);
    lock_ref(*impl_);
    remove_leftovers(*impl_);
    impl_->ref_at_start = resolve_commit(*impl_, ref);
}

Repo::Repo(Repo&&) noexcept = default;
Repo& Repo::operator=(Repo&&) noexcept = default;
Repo::~Repo() = default;

std::string resolve_commit(const Repo::Impl& repo, const std::string& name) {
    GlibFailure failure;
    char* text = nullptr;
    if (ostree_repo_resolve_rev(repo.ostree.get(), name.c_str(), TRUE, &text, failure.out()) ==
        FALSE) {
        throw failure.to_error(repo.path.string(), fmt::format("cannot read ref {}", name));
    }
    const TextHandle checksum(text);
    return checksum ? checksum.get() : "";
}

void make_readable(const Repo::Impl& repo, const fs::path& path) {
    // Best effort: the file may belong to another user, who has made it readable already.
    for (fs::path step = path; step != repo.path && step.has_relative_path();
         step = step.parent_path()) {
        ::chmod(step.c_str(), step == path ? 0644 : 0755);
    }
}

}  // namespace edgegpu
