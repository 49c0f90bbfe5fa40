#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/file_lock.hpp"
#include "commit/cancellable.hpp"
#include "commit/repository.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/proc_file.hpp"

namespace edgegpu {

namespace {

/// "deltas/XX/YYYY" of each delta that has a superblock.
std::vector<std::string> delta_directories(const Repo::Impl& repo) {
    const Fd deltas = repo.open_directory("deltas");
    std::vector<std::string> found;
    for (const std::string& start :
         names_in(repo.open_directory("deltas")).value_or(std::vector<std::string>())) {
        // Of others libostree makes nothing.
        if (start.size() != 2) {
            continue;
        }
        Fd directory = open_at(deltas.get(), start, O_RDONLY | O_DIRECTORY,
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        for (const std::string& rest :
             names_in(std::move(directory)).value_or(std::vector<std::string>())) {
            const std::string name = start + '/' + rest;
            if (::faccessat(deltas.get(), (name + "/superblock").c_str(), F_OK,
                            AT_SYMLINK_NOFOLLOW) == 0) {
                found.push_back("deltas/" + name);
            }
        }
    }
    return found;
}

/// A repository in `tmp/` that has the objects, refs and deltas of another one: libostree makes a
/// new summary there. In the other one it would remove the signature of the old summary (before
/// 2023.1), and clients that verify summaries would find none until the new one is signed.
class SummaryDraft {
public:
    SummaryDraft(const Repo::Impl& repo, const std::set<std::string>& without)
        : repo_(repo), directory_(repo, summary_suffix) {
        link("objects");
        link("refs");
        if (::faccessat(repo.directory.get(), "deltas", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
            without.empty() ? link("deltas") : link_deltas(without);
            // It is written to now. Through a link that leads nowhere, libostree would abort.
            repo.make_directory("delta-indexes");
            link("delta-indexes");
            make_index_directories();
        }
        for (const char* name : {"tmp", "state"}) {
            repo.make_directory_at(directory_.get(), name, shown(name));
        }
        config_ = content_of(repo, "config");
        put("config", config_);
    }

    /// The new summary.
    [[nodiscard]] std::string make(const Context& ctx) const {
        const Cancellable cancellable(ctx);
        GlibFailure failure;
        const RepoHandle view(
            ostree_repo_open_at(directory_.get(), ".", cancellable.get(), failure.out()));
        if (!view || ostree_repo_regenerate_summary(view.get(), nullptr, cancellable.get(),
                                                    failure.out()) == FALSE) {
            ctx.check_cancelled();
            throw failure.to_error(repo_.path.string(), "cannot write the summary");
        }
        keep_config();
        const Fd made(::openat(directory_.get(), "summary", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (!made) {
            throw errno_error(shown("summary"), errno);
        }
        return read_file(made.get(), shown("summary"));
    }

    /// Writes a file of the draft, durable where the repository wants that.
    void put(const char* name, std::string_view content) const {
        if (!try_write_file_at(directory_.get(), name, content, 0644, repo_.fsync)) {
            throw write_error(repo_.path.string(), shown(name), errno);
        }
    }

    /// Gives a file of the draft its name in the repository, and a time that is later, in whole
    /// seconds, than that of the file that had it. Clients keep summary and signature, and ask
    /// servers whether they have changed since; of two in one second they would mix one with the
    /// other's signature, until the next.
    void move(const char* name) const {
        const Fd file(::openat(directory_.get(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        struct stat old {};
        if (::fstatat(repo_.directory.get(), name, &old, AT_SYMLINK_NOFOLLOW) != 0) {
            old.st_mtim.tv_sec = 0;
        }
        const timespec time{std::max(std::time(nullptr), old.st_mtim.tv_sec + 1), 0};
        if (::futimens(file.get(), std::array{time, time}.data()) != 0 ||
            ::renameat(directory_.get(), name, repo_.directory.get(), name) != 0) {
            throw write_error(repo_.path.string(), repo_.shown(name), errno);
        }
    }

private:
    /// All deltas but these: of a delta, only its superblock is read.
    void link_deltas(const std::set<std::string>& without) const {
        repo_.make_directory_at(directory_.get(), "deltas", shown("deltas"));
        for (const std::string& delta : delta_directories(repo_)) {
            if (without.contains(delta)) {
                continue;
            }
            const std::string start = delta.substr(0, delta.rfind('/'));
            for (const std::string& name : {start, delta}) {
                repo_.make_directory_at(directory_.get(), name, shown(name));
            }
            const std::string file = delta + "/superblock";
            if (::symlinkat(("../../../../../" + file).c_str(), directory_.get(), file.c_str()) !=
                0) {
                throw write_error(repo_.path.string(), shown(file), errno);
            }
        }
    }
    /// Those that libostree will write to, as everybody may who builds: it makes them for itself
    /// alone. "delta-indexes/XX" has the beginning of the new commit's name in a delta's.
    void make_index_directories() const {
        for (const std::string& delta : delta_directories(repo_)) {
            // The names are base64 with a "_", so that a "-" is between two.
            const std::size_t slash = delta.rfind('/');
            const std::string name = delta.substr(slash - 2, 2) + delta.substr(slash + 1);
            const std::string to = name.substr(name.find('-') + 1);
            if (to.size() >= 2) {
                repo_.make_directory("delta-indexes/" + to.substr(0, 2));
            }
        }
    }
    /// libostree records there that deltas have indexes now.
    void keep_config() const {
        const Fd file(::openat(directory_.get(), "config", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        const std::string now = read_file(file.get(), shown("config"));
        if (now != config_ &&
            !try_write_file_at(repo_.directory.get(), "config", now, 0644, repo_.fsync)) {
            throw write_error(repo_.path.string(), repo_.shown("config"), errno);
        }
    }
    void link(const std::string& name) const {
        if (::symlinkat(("../../" + name).c_str(), directory_.get(), name.c_str()) != 0) {
            throw write_error(repo_.path.string(), shown(name), errno);
        }
    }
    [[nodiscard]] std::string shown(std::string_view name) const { return directory_.shown(name); }

    const Repo::Impl& repo_;
    ScratchDirectory directory_;
    std::string config_;
};

/// Removes the markers of refs that nobody writes now: those who left them were killed, and the new
/// summary has what their refs have.
void forget_other_markers(const Repo::Impl& repo) {
    const Fd locks = repo.open_directory(locks_directory);
    for (const std::string& name :
         names_in(repo.open_directory(locks_directory)).value_or(std::vector<std::string>())) {
        if (!name.ends_with(summary_suffix)) {
            continue;
        }
        const std::string lock = name.substr(0, name.size() - summary_suffix.size()) + ".lock";
        const Fd held =
            open_at(locks.get(), lock, O_RDWR | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        if (held ? lock_file(held.get(), LOCK_EX | LOCK_NB) : errno == ENOENT) {
            ::unlinkat(locks.get(), name.c_str(), 0);
        }
    }
}

}  // namespace

void update_summary(const Context& ctx, const Repo::Impl& repo, Signer& signer,
                    const std::set<std::string>& without) {
    // `ostree summary --update` takes the repository for itself; other builds do not. Before the
    // lock below: whoever holds that one never waits for this one, which a prune may have.
    const SharedLock shared(ctx, repo);
    // No ref has this name.
    const std::string name = fmt::format("{}/@summary.lock", locks_directory);
    repo.make_lock_file(name);
    const FileLock lock = FileLock::take(ctx, repo.place(name), LockMode::exclusive,
                                         "is writing the summary of the repository");
    const SummaryDraft draft(repo, without);
    const std::string summary = draft.make(ctx);
    // A web server has to read it, whatever the umask.
    draft.put("summary", summary);
    if (signer.signs_commits()) {
        const VariantHandle signatures = with_signatures(
            nullptr, signatures_for(repo, [&] { return signer.sign_summary(summary); }));
        draft.put("summary.sig", {static_cast<const char*>(g_variant_get_data(signatures.get())),
                                  g_variant_get_size(signatures.get())});
        draft.move("summary");
        draft.move("summary.sig");
    } else {
        draft.move("summary");
        if (::unlinkat(repo.directory.get(), "summary.sig", 0) == 0) {
            ctx.console->warn(fmt::format(
                "{}: the summary has lost its signature, as [ostree] names no key (sign): devices "
                "that verify it (gpg-verify-summary) refuse it",
                repo.path.string()));
        }
    }
    forget_summary_marker(repo);
    forget_other_markers(repo);
}

void leave_summary_marker(const Repo::Impl& repo, const std::string& checksum) {
    if (!try_write_file_at(repo.open_directory(locks_directory).get(), repo.summary_marker(),
                           checksum + "\n", 0644, repo.fsync)) {
        throw write_error(repo.path.string(), repo.shown(locks_directory), errno);
    }
}

bool is_summary_under_way(int repository) {
    const Fd locks = open_at(repository, locks_directory, O_RDONLY | O_DIRECTORY,
                             RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    const auto names =
        names_in(locks ? Fd(::openat(locks.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : Fd());
    return names && std::ranges::any_of(*names, [&](const std::string& name) {
               if (!name.ends_with(summary_suffix)) {
                   return false;
               }
               const std::string lock =
                   name.substr(0, name.size() - summary_suffix.size()) + ".lock";
               const Fd file = open_at(locks.get(), lock, O_RDONLY | O_NONBLOCK,
                                       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
               return file ? is_running_process(read_file(file.get(), lock, 64)) : errno != ENOENT;
           });
}

void forget_summary_marker(const Repo::Impl& repo) {
    ::unlinkat(repo.open_directory(locks_directory).get(), repo.summary_marker().c_str(), 0);
}

}  // namespace edgegpu
