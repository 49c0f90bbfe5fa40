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

#include "commit/repository.hpp"
#include "execution/parallel.hpp"
#include "repository/file_object.hpp"
#include "repository/object_files.hpp"
#include "repository/ostree_object.hpp"
#include "repository/tree_objects.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

/// Where objects come from, and what is said of those that cannot.
struct CopySource {
    const RepositoryView& repository;
    /// whose objects they are; may be null
    const CommitView* commit;

    [[nodiscard]] Error unreadable(const GlibFailure& failure, const TreeObject& object) const {
        if (commit != nullptr) {
            return commit->unreadable(failure, object.checksum, object.path);
        }
        const std::string name = object_file_name(object.type, object.checksum);
        return failure.is(G_IO_ERROR_NOT_FOUND)
                   ? error("{}: it has no object {} either", repository.path(), name)
                   : failure.to_error(repository.path(), "cannot read " + name);
    }
    [[nodiscard]] Error unequal(const TreeObject& object) const {
        constexpr const char* what = "it does not have its checksum";
        return commit != nullptr ? commit->malformed(object.path, what)
                                 : error("{}: {}: {} either", repository.path(),
                                         object_file_name(object.type, object.checksum), what);
    }
};

/// The bytes are copied as they are, and the copy is what is verified. Its size in bytes.
std::uint64_t copy_file(const CopySource& source, const TreeObject& object, const Staging& staging,
                        const Repo::Impl& target) {
    const std::string name = object_file_name(object.type, object.checksum);
    GlibFailure failure;
    OstreeRepo* holder = nullptr;
    const Fd stored = open_object(source.repository.handle(), object.checksum, {"filez", "file"},
                                  holder, failure);
    if (!stored) {
        throw source.unreadable(failure, object);
    }
    if (ostree_repo_get_mode(holder) != OSTREE_REPO_MODE_ARCHIVE) {
        throw error("{}: only archive repositories can be published", source.repository.path())
            .hinted(
                "pull the commit into one: ostree init --mode=archive --repo=DIR, then "
                "ostree pull-local --repo=DIR");
    }
    const Fd copy = staging.create(name);
    copy_content(stored.get(), copy.get(), target.shown("objects/" + name));
    const std::optional<FileObject> read =
        read_archived_object(Fd(::fcntl(copy.get(), F_DUPFD_CLOEXEC, 0)), failure);
    if (!read) {
        throw source.unreadable(failure, object);
    }
    const std::string found = checksum_of(*read, failure);
    if (found.empty()) {
        throw source.unreadable(failure, object);
    }
    if (found != object.checksum) {
        throw source.unequal(object);
    }
    return state_of(copy.get(), name).size;
}

std::uint64_t copy_metadata(const CopySource& source, const TreeObject& object,
                            const Staging& staging) {
    GlibFailure failure;
    const VariantHandle variant =
        source.commit != nullptr
            ? source.commit->load(object.type, object.checksum, object.path)
            : load_object(source.repository.handle(), object.type, object.checksum, failure);
    if (!variant) {
        throw source.unreadable(failure, object);
    }
    const std::string_view bytes = bytes_of(variant.get());
    if (sha256_hex(bytes) != object.checksum) {
        throw source.unequal(object);
    }
    staging.put(object_file_name(object.type, object.checksum), bytes);
    return bytes.size();
}

std::uint64_t copy_object(const CopySource& source, const TreeObject& object,
                          const Staging& staging, const Repo::Impl& target) {
    return object.type == OSTREE_OBJECT_TYPE_FILE ? copy_file(source, object, staging, target)
                                                  : copy_metadata(source, object, staging);
}

class ObjectCopies {
public:
    ObjectCopies(const Context& ctx, const RepositoryView& source, const CommitView& commit,
                 const Repo::Impl& target)
        : ctx_(ctx), source_{source, &commit}, target_(target), staging_(target) {}

    /// Copies those that the target lacks, and makes them durable.
    void copy(const std::vector<TreeObject>& objects) {
        std::vector<const TreeObject*> missing;
        std::vector<std::string> names;
        for (const TreeObject& object : objects) {
            std::string name = object_file_name(object.type, object.checksum);
            if (!staging_.repository_has(name)) {
                missing.push_back(&object);
                names.push_back(std::move(name));
            }
        }
        std::atomic<std::uint64_t> bytes{0};
        parallel_for(ctx_, missing.size(), [&](std::size_t i) {
            bytes += copy_object(source_, *missing[i], staging_, target_);
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
    const Context& ctx_;
    CopySource source_;
    const Repo::Impl& target_;
    Staging staging_;
    std::atomic<std::size_t> done_{0};
    CopiedObjects copied_;
};

/// What libostree leaves of a pull that has not ended.
void forget_partial(const Repo::Impl& target, const std::string& checksum) {
    const std::string name = fmt::format("state/{}.commitpartial", checksum);
    ::unlinkat(target.directory.get(), name.c_str(), 0);
}

/// Both lists of signatures (aay), without repetitions.
VariantHandle united(GVariant* present, GVariant* more) {
    std::vector<VariantHandle> all;
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("aay"));
    for (GVariant* from : {present, more}) {
        for (VariantHandle& one : children_of(from)) {
            if (std::ranges::none_of(all, [&](const VariantHandle& known) {
                    return g_variant_equal(known.get(), one.get()) != FALSE;
                })) {
                g_variant_builder_add_value(&list, one.get());
                all.push_back(std::move(one));
            }
        }
    }
    return own(g_variant_builder_end(&list));
}

/// What `present` (an a{sv}, or null) and `more` have; of lists of signatures, of whatever kind,
/// what both have.
VariantHandle merged_metadata(GVariant* present, GVariant* more) {
    GVariantDict all;
    g_variant_dict_init(&all, present);
    for (const auto& [key, value] : entries_of(more)) {
        const VariantHandle known(
            g_variant_dict_lookup_value(&all, key.c_str(), G_VARIANT_TYPE("aay")));
        const bool both =
            known && g_variant_is_of_type(value.get(), G_VARIANT_TYPE("aay")) != FALSE;
        g_variant_dict_insert_value(&all, key.c_str(),
                                    both ? united(known.get(), value.get()).get() : value.get());
    }
    return own(g_variant_dict_end(&all));
}

/// Whether both have the same keys with the same values, in whatever order.
bool is_same_metadata(GVariant* one, GVariant* other) {
    if (g_variant_n_children(one) != g_variant_n_children(other)) {
        return false;
    }
    return std::ranges::all_of(entries_of(one), [&](const auto& entry) {
        const VariantHandle same(g_variant_lookup_value(other, entry.first.c_str(), nullptr));
        return same && g_variant_equal(entry.second.get(), same.get()) != FALSE;
    });
}

}  // namespace

CopiedObjects copy_commit(const Context& ctx, const RepositoryView& source,
                          const CommitView& commit, const Repo& target) {
    const Repo::Impl& impl = target.impl();
    if (impl.ref_at_start == commit.info().checksum) {
        return {};
    }
    // Also if it has the commit: `ostree prune`, interrupted, may have left that alone.
    ObjectCopies copies(ctx, source, commit, impl);
    const TreeObjects objects = list_objects(ctx, commit);
    copies.copy(objects.files);
    copies.copy(objects.directories);
    copies.copy({{OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "commit"}});
    forget_partial(impl, commit.info().checksum);
    return copies.copied();
}

ObjectReplacements::ObjectReplacements(const RepositoryView& source, const Repo& target)
    : source_(source), target_(target.impl()), staging_(std::make_unique<Staging>(target_)) {}

ObjectReplacements::~ObjectReplacements() = default;

void ObjectReplacements::replace(const TreeObject& object) const {
    copy_object({source_, nullptr}, object, *staging_, target_);
    const std::lock_guard lock(mutex_);
    staging_->publish({object_file_name(object.type, object.checksum)});
}

bool copy_detached_metadata(const CommitView& commit, const Repo& target) {
    const Repo::Impl& impl = target.impl();
    const CommitInfo& info = commit.info();
    const VariantHandle ours = commit.detached_metadata();
    const VariantHandle present =
        impl.view().commit_at(info.checksum, info.name).detached_metadata();
    if (!ours) {
        return false;
    }
    const VariantHandle merged = merged_metadata(present.get(), ours.get());
    if (present && is_same_metadata(merged.get(), present.get())) {
        return false;
    }
    write_detached(impl, info.checksum, merged.get());
    return true;
}

}  // namespace edgegpu
