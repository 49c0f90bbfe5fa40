#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "repository/refs.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/ranges.hpp"
#include "support/text/ref_path.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* staging_prefix = "edgegpu-";
/// In the place of a ref's name, as none has an "@".
constexpr const char* whole_repository = "@whole";
/// Names of files have 255 bytes at most; what is made of a ref's adds to it.
constexpr std::size_t longest_ref_file = 200;

Error cannot_write(const Repo::Impl& repo, int code) {
    if (code == ENOSPC || code == EDQUOT) {
        return disk_full(repo.path.string());
    }
    return error("{}: cannot write to the repository: {}", repo.path.string(), std::strerror(code))
        .hinted("name a directory that you may write to");
}

// libostree creates `objects` last: a repository without it is incomplete.
bool is_repository(const Repo::Impl& repo) {
    return std::ranges::all_of(std::array{"config", "objects"}, [&](const char* name) {
        return ::faccessat(repo.directory.get(), name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    });
}

/// Refuses what is neither a repository, nor one that was begun, nor empty.
void check_is_ours(const Repo::Impl& repo) {
    const auto names = names_in(repo.open_directory("."));
    if (!names) {
        throw cannot_write(repo, errno);
    }
    if (!names->empty() && std::ranges::find(*names, "config") == names->end()) {
        throw error("{}: not an ostree repository, and not empty", repo.path.string())
            .hinted("give an empty or absent directory, or an archive repository, with --repo");
    }
}

/// What libostree has just created, for web servers and, where it is shared, for the group.
void set_modes(const Repo::Impl& repo, const Fd& directory) {
    const bool group = repo.sharing == Sharing::group;
    const auto names =
        names_in(Fd(::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
        const Fd inner = open_at(directory.get(), name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
        struct stat status {};
        if (!inner || ::fstat(inner.get(), &status) != 0) {
            continue;
        }
        if (S_ISDIR(status.st_mode)) {
            ::fchmod(inner.get(), (status.st_mode & S_ISGID) | (group ? 0775U : 0755U));
            set_modes(repo, inner);
        } else if (S_ISREG(status.st_mode)) {
            ::fchmod(inner.get(), group ? 0664 : 0644);
        }
    }
}

void create_repository(const Context& ctx, const Repo::Impl& repo) {
    // Several builds may find it missing at the same time: only one creates it.
    const Fd lock = repo.open_directory(".");
    wait_for_lock(ctx, lock.get(), repo.path, "is creating the repository");
    if (is_repository(repo)) {
        return;
    }
    if (::faccessat(lock.get(), ".", W_OK, AT_EACCESS) != 0) {
        throw cannot_write(repo, errno);
    }
    GlibFailure failure;
    const RepoHandle made(ostree_repo_create_at(repo.directory.get(), ".", OSTREE_REPO_MODE_ARCHIVE,
                                                nullptr, nullptr, failure.out()));
    if (!made) {
        throw failure.to_error(repo.path.string(), "cannot create the repository");
    }
    set_modes(repo, lock);
}

void open_top(Repo::Impl& repo) {
    std::error_code code;
    fs::create_directories(repo.path, code);
    repo.directory = Fd(::open(repo.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!repo.directory) {
        throw cannot_write(repo, code ? code.value() : errno);
    }
    if (!is_repository(repo)) {
        check_is_ours(repo);
    }
}

/// What is made in a shared repository has to belong to its group, whoever makes it.
void check_group(const Repo::Impl& repo) {
    struct stat top {};
    if (repo.sharing == Sharing::group && ::fstat(repo.directory.get(), &top) == 0 &&
        (top.st_mode & S_ISGID) == 0 && top.st_gid != ::getegid()) {
        const std::string name = shell_word(repo.path.string());
        throw error("{}: its group may write to it, but what is made in it gets another group",
                    repo.path.string())
            .hinted(fmt::format("find {} -type d -exec chmod g+s {{}} +, as its owner", name));
    }
}

void open_repository(const Context& ctx, Repo::Impl& repo) {
    if (::faccessat(repo.directory.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
        throw cannot_write(repo, errno);
    }
    repo.sharing = check_writers(repo.directory.get(), repo.path.string());
    check_repository(repo.directory.get(), repo.path.string());
    check_group(repo);
    if (!is_repository(repo)) {
        create_repository(ctx, repo);
    }
    repo.make_lock_file(".lock");
    GlibFailure failure;
    repo.ostree =
        RepoHandle(ostree_repo_open_at(repo.directory.get(), ".", nullptr, failure.out()));
    if (!repo.ostree) {
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
    for (const char* name : {"objects", "tmp", "refs/heads"}) {
        if (::faccessat(repo.directory.get(), name, W_OK | X_OK, AT_EACCESS) != 0) {
            throw cannot_write(repo, errno);
        }
    }
    if (g_key_file_has_key(config, "core", "fsync", nullptr) != FALSE) {
        repo.fsync = g_key_file_get_boolean(config, "core", "fsync", nullptr) != FALSE;
    }
}

void lock_ref(Repo::Impl& repo) {
    repo.make_directory(locks_directory);
    const std::string name = fmt::format("{}/{}.lock", locks_directory, repo.ref_file);
    repo.make_lock_file(name);
    repo.lock = FileLock::try_take(repo.place(name), LockMode::exclusive);
    if (!repo.lock) {
        std::string pid = read_file(repo.place(name), 64);
        pid.resize(trim_end(pid).size());
        throw error("{}: somebody else (pid {} of its machine) is writing ref {}",
                    repo.path.string(), pid.empty() ? "unknown" : pid, repo.ref)
            .hinted("try again when that has ended, or name another repository");
    }
}

void lock_whole(const Context& ctx, Repo::Impl& repo, const LockWait& wait) {
    repo.make_directory(locks_directory);
    const std::string name = fmt::format("{}/{}.lock", locks_directory, repo.ref_file);
    repo.make_lock_file(name);
    const auto began = std::chrono::steady_clock::now();
    repo.lock =
        FileLock::take(ctx, repo.place(name), LockMode::exclusive, "prunes or mends the repository",
                       LockFile::kept, limit_of_wait(repo.ostree.get(), wait));
    repo.waited =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
}

/// Only those of this ref: others may belong to a running build.
void remove_leftovers(const Repo::Impl& repo) {
    const auto names = names_in(repo.open_directory("tmp"));
    if (!names) {
        throw errno_error(repo.shown("tmp"), errno);
    }
    const Fd tmp = repo.open_directory("tmp");
    for (const std::string& name : *names) {
        if (repo.is_staging(name)) {
            remove_at(tmp.get(), name, repo.shown("tmp/" + name));
        }
    }
    const Fd locks = repo.open_directory(locks_directory);
    remove_leftovers_at(repo.directory.get(), "summary.sig");
    remove_leftovers_at(locks.get(), repo.summary_marker());
    remove_leftovers_at(locks.get(), repo.inputs_record());
    const fs::path ref = "refs/heads/" + repo.ref;
    if (repo.ref.empty()) {
        return;
    }
    if (const Fd parent = open_at(repo.directory.get(), ref.parent_path(), O_PATH | O_DIRECTORY,
                                  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)) {
        remove_leftovers_at(parent.get(), ref.filename());
    }
}

/// The summary is made in a directory of links: that must not fail when the ref is set already.
void require_links(const Repo::Impl& repo) {
    const Fd tmp = repo.open_directory("tmp");
    // If this is killed, the next run of the ref removes it.
    const std::string name = repo.staging_name();
    if (::symlinkat("x", tmp.get(), name.c_str()) == 0) {
        ::unlinkat(tmp.get(), name.c_str(), 0);
    } else if (errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP) {
        throw error(ErrorKind::usage,
                    "{}: its file system has no symbolic links, which a repository needs",
                    repo.path.string())
            .hinted(
                "use ext4, XFS or btrfs; for a stick with FAT or exFAT, edgegpu export writes "
                "a file");
    }
}

std::string file_name(const std::string& ref) {
    return sum_of(ref, [](char c) { return c == '/' ? "%2F" : std::string(1, c); });
}

}  // namespace

fs::path Repo::Impl::place(std::string_view name) const {
    return path_of_descriptor(directory.get()) / name;
}

std::string Repo::Impl::shown(std::string_view name) const {
    return (path / name).string();
}

Fd Repo::Impl::open_directory(const std::string& name) const {
    Fd opened = open_at(directory.get(), name, O_RDONLY | O_DIRECTORY,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (!opened) {
        throw errno_error(shown(name), errno);
    }
    return opened;
}

void Repo::Impl::make_directory(const std::string& name) const {
    const std::size_t slash = name.rfind('/');
    const bool top = slash == std::string::npos;
    make_directory_at(open_directory(top ? "." : name.substr(0, slash)).get(),
                      top ? name : name.substr(slash + 1), shown(name));
}

void Repo::Impl::make_directory_at(int parent, const std::string& name,
                                   const std::string& shown_name) const {
    if (::mkdirat(parent, name.c_str(), 0700) != 0) {
        if (errno != EEXIST) {
            throw write_error(path.string(), shown_name, errno);
        }
        return;
    }
    const Fd made = open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    struct stat status {};
    // A set-group-ID bit comes from the parent.
    if (!made || ::fstat(made.get(), &status) != 0 ||
        ::fchmod(made.get(),
                 (status.st_mode & S_ISGID) | (sharing == Sharing::group ? 0775U : 0755U)) != 0) {
        throw errno_error(shown_name, errno);
    }
}

void Repo::Impl::make_lock_file(const std::string& name) const {
    const auto open = [&](std::uint64_t flags, std::uint64_t mode) {
        return open_at(directory.get(), name, O_RDWR | O_NONBLOCK | flags,
                       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, mode);
    };
    Fd file = open(O_CREAT | O_EXCL, 0600);
    if (!file && errno == EEXIST) {
        file = open(0, 0);
    }
    // Who can read a file can lock it, and hold up builds. That of another owner has a mode.
    if (file &&
        (::fchmod(file.get(), sharing == Sharing::group ? 0660 : 0600) == 0 || errno == EPERM)) {
        return;
    }
    if (errno == EACCES && sharing == Sharing::group) {
        throw error("{}: its group cannot write to it, though the repository is shared with it",
                    shown(name))
            .hinted(fmt::format("chmod g+rw {}, as its owner", shell_word(shown(name))));
    }
    throw cannot_write(*this, errno);
}

RepositoryView Repo::Impl::view() const {
    return {RepoHandle(OSTREE_REPO(g_object_ref(ostree.get()))), path.string()};
}

std::string Repo::Impl::staging_name() const {
    return fmt::format("{}{}@{}", staging_prefix, ref_file, ::getpid());
}

bool Repo::Impl::is_staging(std::string_view name) const {
    const std::string own = staging_prefix + ref_file;
    if (!name.starts_with(own) || name.size() < own.size() + 2) {
        return false;
    }
    const char separator = name[own.size()];
    std::string_view process = name.substr(own.size() + 1);
    for (const std::string_view suffix : {summary_suffix, delta_suffix}) {
        if (process.ends_with(suffix)) {
            process.remove_suffix(suffix.size());
        }
    }
    return (separator == '@' || separator == '-') &&
           process.find_first_not_of("0123456789") == std::string_view::npos;
}

void require_ref_name(const std::string& ref) {
    if (!is_ref(ref) || file_name(ref).size() > longest_ref_file) {
        throw error(ErrorKind::usage, "\"{}\" is not a valid ref{}", ref,
                    is_ref(ref) ? ": it is too long" : "")
            .hinted("a ref has parts with / between them, of letters, digits, _, - and .");
    }
    if (const std::string hint = hint_for_ref_path(ref); !hint.empty()) {
        throw error(ErrorKind::usage, "\"{}\" is not a valid ref: it is where a repository has one",
                    ref)
            .hinted(hint);
    }
    // Clients take it for a commit, and never ask for the ref.
    if (is_sha256(ref)) {
        throw error(ErrorKind::usage, "\"{}\" is not a valid ref: it is the checksum of a commit",
                    ref)
            .hinted("name the ref that devices follow");
    }
}

Repo::Repo(const Context& ctx, const fs::path& path, const std::string& ref)
    : impl_(std::make_unique<Impl>()) {
    ctx.check_cancelled();
    impl_->path = fs::absolute(path).lexically_normal();
    impl_->ref = ref;
    impl_->ref_file = file_name(ref);
    require_ref_name(ref);
    open_top(*impl_);
    open_repository(ctx, *impl_);
    lock_ref(*impl_);
    require_place_of_ref(impl_->directory.get(), impl_->path, ref);
    remove_leftovers(*impl_);
    require_links(*impl_);
    impl_->ref_at_start = read_ref(impl_->directory.get(), impl_->path.string(), ref);
}

Repo Repo::whole(const Context& ctx, const fs::path& path, const LockWait& wait) {
    ctx.check_cancelled();
    auto impl = std::make_unique<Impl>();
    impl->path = fs::absolute(path).lexically_normal();
    impl->ref_file = whole_repository;
    impl->directory = Fd(::open(impl->path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!impl->directory || !is_repository(*impl)) {
        throw error(ErrorKind::usage, "{}: not an ostree repository", impl->path.string())
            .hinted("name the repository with --repo");
    }
    open_repository(ctx, *impl);
    lock_whole(ctx, *impl, wait);
    remove_leftovers(*impl);
    require_links(*impl);
    return Repo(std::move(impl));
}

Repo::Repo(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Repo::Repo(Repo&&) noexcept = default;
Repo& Repo::operator=(Repo&&) noexcept = default;
Repo::~Repo() = default;

}  // namespace edgegpu
