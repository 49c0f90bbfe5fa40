#include "publish/copy.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "commit/object.hpp"
#include "commit/repository.hpp"
#include "execution/parallel.hpp"
#include "publish/objects.hpp"
#include "repository/file_object.hpp"
#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

const char* extension_of(OstreeObjectType type) {
    switch (type) {
        case OSTREE_OBJECT_TYPE_COMMIT:
            return "commit";
        case OSTREE_OBJECT_TYPE_DIR_TREE:
            return "dirtree";
        case OSTREE_OBJECT_TYPE_DIR_META:
            return "dirmeta";
        default:
            return "filez";
    }
}

class ObjectCopies {
public:
    ObjectCopies(const Context& ctx, const RepositoryView& source, const CommitView& commit,
                 const Repo::Impl& target)
        : ctx_(ctx), source_(source), commit_(commit), target_(target), staging_(target) {}

    /// Copies those that the target lacks, and makes them durable.
    void copy(const std::vector<TreeObject>& objects) {
        std::vector<const TreeObject*> missing;
        std::vector<std::string> names;
        for (const TreeObject& object : objects) {
            std::string name = object_path(object.checksum, extension_of(object.type));
            if (!staging_.repository_has(name)) {
                missing.push_back(&object);
                names.push_back(std::move(name));
            }
        }
        std::atomic<std::uint64_t> bytes{0};
        parallel_for(ctx_, missing.size(), [&](std::size_t i) {
            bytes += missing[i]->type == OSTREE_OBJECT_TYPE_FILE
                         ? copy_file(*missing[i], names[i])
                         : copy_metadata(*missing[i], names[i]);
            if (ctx_.console != nullptr) {
                ctx_.console->progress(++done_, missing.size(), "objects copied");
            }
        });
        done_ = 0;
        ctx_.check_cancelled();
        staging_.publish(names);
        copied_.count += names.size();
        copied_.bytes += bytes;
    }

    [[nodiscard]] CopiedObjects copied() const { return copied_; }

private:
    /// The bytes are copied as they are, and the copy is what is verified.
    std::uint64_t copy_file(const TreeObject& object, const std::string& name) {
        GlibFailure failure;
        OstreeRepo* holder = nullptr;
        const Fd stored =
            open_object(source_.handle(), object.checksum, {"filez", "file"}, holder, failure);
        if (!stored) {
            throw commit_.unreadable(failure, object.checksum, object.path);
        }
        if (ostree_repo_get_mode(holder) != OSTREE_REPO_MODE_ARCHIVE) {
            throw error("{}: only archive repositories can be published", source_.path())
                .hinted(
                    "pull the commit into one: ostree init --mode=archive --repo=DIR, then "
                    "ostree pull-local --repo=DIR");
        }
        const Fd copy = staging_.create(name);
        copy_content(stored.get(), copy.get(), target_.shown("objects/" + name));
        const std::optional<FileObject> read =
            read_archived_object(Fd(::fcntl(copy.get(), F_DUPFD_CLOEXEC, 0)), failure);
        if (!read) {
            throw commit_.unreadable(failure, object.checksum, object.path);
        }
        const std::string found = checksum_of(*read, failure);
        if (found.empty()) {
            throw commit_.unreadable(failure, object.checksum, object.path);
        }
        if (found != object.checksum) {
            throw commit_.malformed(object.path, "it does not have its checksum");
        }
        return state_of(copy.get(), name).size;
    }

    std::uint64_t copy_metadata(const TreeObject& object, const std::string& name) {
        const VariantHandle variant = commit_.load(object.type, object.checksum, object.path);
        const std::string_view bytes(static_cast<const char*>(g_variant_get_data(variant.get())),
                                     g_variant_get_size(variant.get()));
        if (sha256_hex(bytes) != object.checksum) {
            throw commit_.malformed(object.path, "it does not have its checksum");
        }
        staging_.put(name, bytes);
        return bytes.size();
    }

    const Context& ctx_;
    const RepositoryView& source_;
    const CommitView& commit_;
    const Repo::Impl& target_;
    Staging staging_;
    std::atomic<std::size_t> done_{0};
    CopiedObjects copied_;
};

/// Whether the target has the commit, and with it all that it needs: not if another program has
/// begun to pull it.
bool has_commit(const RepositoryView& target, const CommitInfo& commit) {
    return !reason_of_failure(
        [&] { static_cast<void>(target.commit_at(commit.checksum, commit.name)); });
}

/// What libostree leaves of a pull that has not ended.
void forget_partial(const Repo::Impl& target, const std::string& checksum) {
    const std::string name = fmt::format("state/{}.commitpartial", checksum);
    ::unlinkat(target.directory.get(), name.c_str(), 0);
}

}  // namespace

CopiedObjects copy_commit(const Context& ctx, const RepositoryView& source,
                          const CommitView& commit, const Repo& target) {
    const Repo::Impl& impl = target.impl();
    if (has_commit(impl.view(), commit.info())) {
        return {};
    }
    const SharedLock lock(ctx, impl);
    ObjectCopies copies(ctx, source, commit, impl);
    const TreeObjects objects = list_objects(ctx, commit);
    copies.copy(objects.files);
    copies.copy(objects.directories);
    copies.copy({{OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "commit"}});
    forget_partial(impl, commit.info().checksum);
    return copies.copied();
}

bool copy_signatures(const CommitView& commit, const Repo& target) {
    const Repo::Impl& impl = target.impl();
    const CommitInfo& info = commit.info();
    VariantHandle metadata = commit.detached_metadata();
    const VariantHandle present =
        impl.view().commit_at(info.checksum, info.name).detached_metadata();
    if (!metadata) {
        return false;
    }
    std::vector<std::string> signatures = signatures_of(metadata.get());
    for (std::string& signature : signatures_of(present.get())) {
        if (std::ranges::find(signatures, signature) == signatures.end()) {
            signatures.push_back(std::move(signature));
        }
    }
    if (!signatures.empty()) {
        metadata = with_signatures(metadata.get(), signatures);
    }
    if (present && g_variant_equal(metadata.get(), present.get()) != FALSE) {
        return false;
    }
    write_detached(impl, info.checksum, metadata.get());
    return true;
}

}  // namespace edgegpu
