#include "commit/commit.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "commit/cancellable.hpp"
#include "commit/device_key.hpp"
#include "commit/dirtree.hpp"
#include "commit/head.hpp"
#include "commit/metadata.hpp"
#include "commit/naming.hpp"
#include "commit/object.hpp"
#include "commit/repository.hpp"
#include "commit/upgrade_limit.hpp"
#include "execution/parallel.hpp"
#include "image/deflate.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/ranges.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {
namespace {

void write_file_object(const NamedFile& file, const Staging& staging, DeflateStreams& streams) {
    const std::string header = archive_header(*file.entry, file.path);
    if (file.entry->type == EntryType::symlink) {
        staging.put(file.object, header);
        return;
    }
    // A damaged stream is detected at its end, and then made again.
    for (unsigned attempt = 0; attempt < 3; ++attempt) {
        const Fd out = staging.create(file.object);
        std::string pending = header;
        const bool whole = streams.read(*file.entry, [&](std::string_view piece) {
            if (!pending.empty() && piece.size() <= smallest_cached_stream * 8) {
                // Header and content of a small object in one system call.
                pending += piece;
                piece = {};
            }
            staging.write(out, pending);
            pending.clear();
            staging.write(out, piece);
        });
        if (whole) {
            return;
        }
    }
    throw error("{}: the deflate stream of this content cannot be read back",
                file.entry->content.string())
        .hinted("the cache's disk may be failing");
}

/// Objects that are staged, by their names (object_path).
using Staged = std::unordered_set<std::string>;

/// The files whose objects neither the repository nor `staged` has, the largest first.
std::vector<const NamedFile*> missing_files(const std::vector<NamedFile>& files,
                                            const Staging& staging, const Staged& staged) {
    std::unordered_set<std::string_view> seen;
    std::vector<const NamedFile*> missing = pointers_to(files, [&](const NamedFile& file) {
        return seen.insert(file.object).second && !staged.contains(file.object) &&
               !staging.repository_has(file.object);
    });
    std::ranges::stable_sort(missing, [](const NamedFile* a, const NamedFile* b) {
        return a->entry->size > b->entry->size;
    });
    return missing;
}

void stage_files(const Context& ctx, const std::vector<NamedFile>& files, const Staging& staging,
                 Staged& staged) {
    const std::vector<const NamedFile*> missing = missing_files(files, staging, staged);
    std::unordered_set<std::string_view> digests;
    std::vector<const Entry*> streamless;
    DeflateStreams streams(ctx);
    for (const NamedFile* file : missing) {
        const Entry& entry = *file->entry;
        if (entry.type == EntryType::file && entry.size >= smallest_cached_stream &&
            digests.insert(entry.digest).second && !streams.has(entry)) {
            streamless.push_back(&entry);
        }
    }
    streams.make(std::move(streamless));
    std::atomic<std::size_t> done{0};
    parallel_for(ctx, missing.size(), [&](std::size_t i) {
        write_file_object(*missing[i], staging, streams);
        const std::size_t count = ++done;
        if (ctx.console != nullptr && count % 64 == 0) {
            ctx.console->progress(count, missing.size(), "objects written");
        }
    });
    for (const NamedFile* file : missing) {
        staged.insert(file->object);
    }
}

/// A commit that has a checksum, and of which nothing is in the repository yet.
struct Draft {
    std::vector<NamedFile> files;
    DirectoryObjects directories;
    /// the bytes of the commit object
    std::string object;
    std::string checksum;
};

Draft make_draft(const Context& ctx, const Blueprint& blueprint, const Resolution& resolution,
                 const Tree& tree, const std::string& parent, const std::string& inputs_digest,
                 std::int64_t time) {
    Draft draft;
    draft.files = name_objects(ctx, tree.entries);
    std::unordered_map<std::string_view, std::string> checksums;
    checksums.reserve(draft.files.size());
    for (const NamedFile& file : draft.files) {
        checksums.emplace(file.path, file.checksum);
    }
    draft.directories = make_directory_objects(tree.entries, checksums);
    const VariantHandle metadata = commit_metadata(ctx, blueprint, resolution, tree, inputs_digest);
    draft.object = commit_object(metadata.get(), parent,
                                 fmt::format("{} {}", blueprint.name, blueprint.version), time,
                                 draft.directories.root_tree, draft.directories.root_meta);
    draft.checksum = sha256_hex(draft.object);
    return draft;
}

/// Stages the files and directories of a commit that are neither in the repository nor in `staged`.
void stage(const Context& ctx, const Draft& draft, const Staging& staging, Staged& staged) {
    stage_files(ctx, draft.files, staging, staged);
    for (const auto& [object, bytes] : draft.directories.objects) {
        if (!staged.contains(object) && !staging.repository_has(object)) {
            staging.put(object, bytes);
            staged.insert(object);
        }
    }
    ctx.check_cancelled();
}

void count_new(const Repo::Impl& repo, const Staged& objects, Commit& commit) {
    for (const std::string& object : objects) {
        struct stat status {};
        const std::string path = "objects/" + object;
        ++commit.new_objects;
        if (::fstatat(repo.directory.get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
            commit.new_bytes += static_cast<std::uint64_t>(status.st_size);
        }
    }
}

Commit describe_commit(const Blueprint& blueprint, const Draft& draft, const std::string& parent) {
    Commit commit;
    commit.ref = blueprint.ostree.ref;
    commit.checksum = draft.checksum;
    commit.parent = parent;
    commit.version = blueprint.version;
    commit.files = draft.files.size();
    for (const NamedFile& file : draft.files) {
        commit.size += file.entry->type == EntryType::file ? file.entry->size : 0;
    }
    return commit;
}

/// The limit of `--max-upgrade-bytes`, before anything of the commit is in the repository.
void check_upgrade(const Context& ctx, const Blueprint& blueprint, const Repo::Impl& repo,
                   const std::optional<Parent>& parent, const Draft& draft, const Staging& staging,
                   GVariant* detached, std::uint64_t limit) {
    if (!parent) {
        ctx.console->note(fmt::format(
            "{}: --max-upgrade-bytes has nothing to compare with: ref {} has no parent yet",
            blueprint.path.string(), repo.ref));
        return;
    }
    const std::uint64_t commit_bytes =
        draft.object.size() + (detached == nullptr ? 0 : g_variant_get_size(detached));
    require_small_upgrade(ctx, repo, *parent, {draft.files, draft.directories, commit_bytes},
                          staging, limit);
}

/// Moves what is staged into place, the commit last, counts it in `commit`, and sets the ref.
void publish(const Context& ctx, const Repo::Impl& repo, const Draft& draft, const Staging& staging,
             Staged& staged, GVariant* detached, Commit& commit) {
    // Not held any longer than this: `ostree prune`, and older versions of libostree for their
    // summary, wait until nobody holds it.
    const SharedLock lock(ctx, repo);
    // What was there may have been pruned since.
    stage(ctx, draft, staging, staged);
    staging.publish({staged.begin(), staged.end()});
    // The commit object comes after everything that it refers to is in place and durable.
    const std::string object = object_path(draft.checksum, "commit");
    if (!staging.repository_has(object)) {
        staging.put(object, draft.object);
        staging.publish({object});
        staged.insert(object);
    }
    if (detached != nullptr) {
        write_detached(repo, draft.checksum, detached);
    }
    count_new(repo, staged, commit);
    ctx.check_cancelled();
    set_ref(repo, draft.checksum);
}

/// Updates the summary; a warning says so if that fails.
void finish_summary(const Context& ctx, const Blueprint& blueprint, const Repo::Impl& repo,
                    const std::string& checksum, Signer& signer) {
    if (const auto reason = reason_of_failure([&] { update_summary(ctx, repo, signer); })) {
        std::string command = "ostree summary --update --repo=" + shell_word(repo.path.string());
        if (signer.signs_with_gpg()) {
            command += " --gpg-sign=" + shell_word(blueprint.ostree.sign);
        }
        if (!blueprint.ostree.gpg_homedir.empty()) {
            command += " --gpg-homedir=" + shell_word(blueprint.ostree.gpg_homedir.string());
        }
        ctx.console->warn(fmt::format(
            "{}: ref {} has commit {}, but the summary is not up to date ({}): devices that ask "
            "it, or verify it, do not get the commit before the next build of the ref, or `{}`",
            repo.path.string(), repo.ref, checksum, *reason, command));
    }
}

/// Whether one is by the ed25519 key that the blueprint names, if it names one.
bool has_ed25519_signature(GVariant* metadata, std::string_view object, const Signer& signer) {
    const std::vector<std::string> made = signatures_of(metadata, ed25519_signatures_key);
    return signer.ed25519_key().empty() ||
           std::ranges::any_of(made, [&](const std::string& signature) {
               return verifies_ed25519({signer.ed25519_key()}, object, signature);
           });
}

/// Signs the commit again unless it has a signature by the key that the blueprint names, which
/// devices accept now. Returns whether it did.
bool sign_again(const Context& ctx, const Blueprint& blueprint, const Repo::Impl& repo,
                const CommitView& head, Signer& signer) {
    // Devices read it, signed or not.
    const VariantHandle detached = head.detached_metadata();
    if (!signer.signs_commits()) {
        return false;
    }
    const std::string& checksum = head.info().checksum;
    const VariantHandle variant = head.load(OSTREE_OBJECT_TYPE_COMMIT, checksum, "");
    const std::string_view object = bytes_of(variant.get());
    const std::vector<std::string> signatures = signatures_of(detached.get());
    const DeviceKey key(blueprint, std::time(nullptr));
    const bool accepted = !signer.signs_with_gpg() ||
                          std::ranges::any_of(signatures, [&](const std::string& signature) {
                              return key.accepts(ctx, object, signature, signer.sign_trial());
                          });
    if (accepted && has_ed25519_signature(detached.get(), object, signer)) {
        return false;
    }
    add_signatures(repo, signer, head);
    if (!signatures.empty() && !accepted) {
        ctx.console->note(
            fmt::format("commit {} is signed again: devices would not have verified it with the "
                        "key {}",
                        checksum, blueprint.ostree.sign));
    }
    return true;
}

/// The answer if the ref keeps its commit, which may still lack a signature, or a ref of its own.
Commit keep(const Context& ctx, const Blueprint& blueprint, const Repo::Impl& repo,
            const CommitView& head, Signer& signer) {
    Commit commit;
    commit.ref = repo.ref;
    commit.checksum = head.info().checksum;
    commit.version = head.info().version;
    commit.unchanged = true;
    const bool signed_now = sign_again(ctx, blueprint, repo, head, signer);
    if (repo.ref_at_start.empty()) {
        set_ref(repo, commit.checksum);
    }
    if (signed_now || repo.ref_at_start.empty()) {
        finish_summary(ctx, blueprint, repo, commit.checksum, signer);
    }
    return commit;
}

/// Warns if devices that have the ref's last commit or the parent, from which they may come to a
/// new ref, show the version of the new commit, too. `object` are the bytes of its object.
void warn_of_version(const Context& ctx, const Blueprint& blueprint, const Repo::Impl& repo,
                     const std::optional<CommitView>& head, const std::optional<Parent>& parent,
                     const std::string& object) {
    const auto warn = [&](std::string_view whose, const std::string& checksum) {
        ctx.console->warn(
            fmt::format("{}: {} ({}) has version {} too, with other content: the version of a "
                        "device does not tell which of both it has; raise `version`",
                        blueprint.path.string(), whose, checksum, blueprint.version));
    };
    if (head && head->info().version == blueprint.version) {
        warn("the ref's last commit", head->info().checksum);
    } else if (parent && parent->version == blueprint.version &&
               !has_same_files(repo.view().commit_at(parent->checksum, parent->checksum), object)) {
        warn("the parent", parent->checksum);
    }
}

}  // namespace

std::optional<Commit> find_unchanged(const Context& ctx, const Blueprint& blueprint,
                                     const Repo& repo, const std::optional<Parent>& parent,
                                     const std::string& inputs_digest, Signer& signer) {
    const Repo::Impl& impl = repo.impl();
    const std::optional<CommitView> head = read_head(impl);
    if (!head || !is_made_on(head->info(), parent) ||
        !has_inputs(impl, head->info(), inputs_digest)) {
        return std::nullopt;
    }
    return keep(ctx, blueprint, impl, *head, signer);
}

std::int64_t time_of_commit(const Context& ctx, const Repo& repo,
                            const std::optional<Parent>& parent) {
    return commit_time(ctx.source_date_epoch, parent, read_head(repo.impl()));
}

Commit write_commit(const Context& ctx, const Blueprint& blueprint, const Resolution& resolution,
                    const Tree& tree, const Repo& repo, const std::optional<Parent>& parent,
                    const std::string& inputs_digest, Signer& signer,
                    std::optional<std::uint64_t> max_upgrade_bytes) {
    const Repo::Impl& impl = repo.impl();
    make_directories(ctx.cache);
    const std::string parent_checksum = parent ? parent->checksum : "";
    const std::optional<CommitView> head = read_head(impl);
    const Draft draft = make_draft(ctx, blueprint, resolution, tree, parent_checksum, inputs_digest,
                                   commit_time(ctx.source_date_epoch, parent, head));
    if (head && is_made_on(head->info(), parent) && is_same_image(*head, draft.object)) {
        ctx.log.info("the image is that of the last commit",
                     {{"commit", head->info().checksum}, {"inputs", inputs_digest}});
        record_inputs(impl, head->info().checksum, inputs_digest);
        return keep(ctx, blueprint, impl, *head, signer);
    }
    warn_of_version(ctx, blueprint, impl, head, parent, draft.object);
    Commit commit = describe_commit(blueprint, draft, parent_checksum);
    commit.is_signed = signer.signs_commits();
    {
        const Staging staging(impl);
        Staged staged;
        stage(ctx, draft, staging, staged);
        const VariantHandle detached = signed_metadata(impl, signer, draft.checksum, draft.object,
                                                       detached_metadata(resolution).get());
        if (max_upgrade_bytes) {
            check_upgrade(ctx, blueprint, impl, parent, draft, staging, detached.get(),
                          *max_upgrade_bytes);
        }
        publish(ctx, impl, draft, staging, staged, detached.get(), commit);
    }
    finish_summary(ctx, blueprint, impl, commit.checksum, signer);
    return commit;
}

}  // namespace edgegpu
