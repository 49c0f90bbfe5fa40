#include "commit/commit.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "commit/dirtree.hpp"
#include "commit/metadata.hpp"
#include "commit/naming.hpp"
#include "commit/object.hpp"
#include "commit/repository.hpp"
#include "execution/parallel.hpp"
#include "image/deflate.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {
namespace {

/// Keeps `ostree prune` from removing objects that no ref reaches yet.
class SharedLock {
public:
    explicit SharedLock(const Repo::Impl& repo) : repo_(repo.ostree.get()) {
        GlibFailure failure;
        if (ostree_repo_lock_push(repo_, OSTREE_REPO_LOCK_SHARED, nullptr, failure.out()) ==
            FALSE) {
            throw failure.to_error(repo.path.string(), "cannot lock the repository");
        }
    }
    SharedLock(const SharedLock&) = delete;
    SharedLock& operator=(const SharedLock&) = delete;
    ~SharedLock() { ostree_repo_lock_pop(repo_, OSTREE_REPO_LOCK_SHARED, nullptr, nullptr); }

private:
    OstreeRepo* repo_;
};

void write_file_object(const FileObject& file, const Staging& staging, DeflateStreams& streams) {
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

/// Stages the objects that the repository does not have; returns their names (object_path).
std::vector<std::string> stage_files(const Context& ctx, const std::vector<FileObject>& files,
                                     const Staging& staging) {
    std::unordered_set<std::string_view> objects;
    std::unordered_set<std::string_view> digests;
    std::vector<const FileObject*> missing;
    std::vector<const Entry*> streamless;
    DeflateStreams streams(ctx);
    for (const FileObject& file : files) {
        if (!objects.insert(file.object).second || staging.repository_has(file.object)) {
            continue;
        }
        missing.push_back(&file);
        if (file.entry->type == EntryType::file && file.entry->size >= smallest_cached_stream &&
            digests.insert(file.entry->digest).second && !streams.has(*file.entry)) {
            streamless.push_back(file.entry);
        }
    }
    streams.make(std::move(streamless));
    std::ranges::stable_sort(missing, [](const FileObject* a, const FileObject* b) {
        return a->entry->size > b->entry->size;
    });
    std::atomic<std::size_t> done{0};
    parallel_for(ctx, missing.size(), [&](std::size_t i) {
        write_file_object(*missing[i], staging, streams);
        const std::size_t count = ++done;
        if (ctx.console != nullptr && count % 64 == 0) {
            ctx.console->progress(count, missing.size(), "objects written");
        }
    });
    std::vector<std::string> names;
    names.reserve(missing.size());
    for (const FileObject* file : missing) {
        names.push_back(file->object);
    }
    return names;
}

void count_new(const Repo::Impl& repo, const std::vector<std::string>& objects, Commit& commit) {
    for (const std::string& object : objects) {
        std::error_code ignored;
        const auto size = std::filesystem::file_size(repo.path / "objects" / object, ignored);
        ++commit.new_objects;
        commit.new_bytes += ignored ? 0 : size;
    }
}

/// Sets the ref to the new commit. Throws Error if another process moved it during the build.
void move_ref(const Repo::Impl& repo, const std::string& checksum) {
    const std::string current = resolve_commit(repo, repo.ref);
    if (current != repo.ref_at_start) {
        throw error("{}: another process moved ref {} during this build, from {} to {}",
                    repo.path.string(), repo.ref,
                    repo.ref_at_start.empty() ? "nothing" : repo.ref_at_start,
                    current.empty() ? "nothing" : current)
            .hinted("build again; the new commit will have the new parent");
    }
    GlibFailure failure;
    if (ostree_repo_set_ref_immediate(repo.ostree.get(), nullptr, repo.ref.c_str(),
                                      checksum.c_str(), nullptr, failure.out()) == FALSE) {
        throw failure.to_error(repo.path.string(), "cannot move ref " + repo.ref);
    }
    make_readable(repo, repo.path / "refs/heads" / repo.ref);
}

Commit describe_commit(const Blueprint& blueprint, const std::vector<FileObject>& files,
                       const std::optional<Parent>& parent) {
    Commit commit;
    commit.ref = blueprint.ostree.ref;
    commit.parent = parent ? parent->checksum : "";
    commit.version = blueprint.version;
    commit.files = files.size();
    for (const FileObject& file : files) {
        commit.size += file.entry->type == EntryType::file ? file.entry->size : 0;
    }
    return commit;
}

}  // namespace

Commit write_commit(const Context& ctx, const Blueprint& blueprint, const Resolution& resolution,
                    const Tree& tree, const Repo& repo, const std::optional<Parent>& parent,
                    const std::string& inputs_digest, Signer& signer) {
    const Repo::Impl& impl = repo.impl();
    make_directories(ctx.cache);
    Commit commit;
    {
        const SharedLock lock(impl);
        const Staging staging(impl);
        const std::vector<FileObject> files = name_objects(ctx, tree.entries);
        std::unordered_map<std::string_view, std::string> checksums;
        checksums.reserve(files.size());
        for (const FileObject& file : files) {
            checksums.emplace(file.path, file.checksum);
        }
        commit = describe_commit(blueprint, files, parent);
        commit.is_signed = signer.signs_commits();
        const DirectoryObjects directories = make_directory_objects(tree.entries, checksums);

        std::vector<std::string> objects = stage_files(ctx, files, staging);
        for (const auto& [object, bytes] : directories.objects) {
            if (!staging.repository_has(object)) {
                staging.put(object, bytes);
                objects.push_back(object);
            }
        }
        ctx.check_cancelled();
        staging.publish(objects);

        // The commit object comes after everything that it refers to is in place and durable.
        const VariantHandle metadata =
            commit_metadata(ctx, blueprint, resolution, tree, inputs_digest);
        const std::string bytes = commit_object(
            metadata.get(), commit.parent, fmt::format("{} {}", blueprint.name, blueprint.version),
            ctx.source_date_epoch, directories.root_tree, directories.root_meta);
        commit.checksum = sha256_hex(bytes);
        const std::string object = object_path(commit.checksum, "commit");
        if (!staging.repository_has(object)) {
            staging.put(object, bytes);
            staging.publish({object});
            objects.push_back(object);
        }
        count_new(impl, objects, commit);
        sign_commit(impl, signer, commit.checksum, bytes, detached_metadata(resolution).get());
        ctx.check_cancelled();
        write_file(impl.summary_marker(), commit.checksum + "\n");
        move_ref(impl, commit.checksum);
    }
    update_summary(impl, signer);
    return commit;
}

}  // namespace edgegpu
