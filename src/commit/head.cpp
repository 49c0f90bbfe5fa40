#include "commit/head.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>

#include "commit/repository.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

/// The last one that can be written as a date, which clients do (31 December 9999).
constexpr std::int64_t latest_time = 253402300799;
/// "CHECKSUM INPUTS\n"
constexpr std::uint64_t largest_record = 256;

/// The metadata that devices or their users see: key → value, serialised.
std::map<std::string, std::string> visible_metadata(GVariant* commit) {
    static const std::set<std::string_view> invisible{"edgegpu.inputs-digest",
                                                      "rpmostree.advisories", "rpmostree.inputhash",
                                                      "rpmostree.rpmmd-repos"};
    const VariantHandle metadata(g_variant_get_child_value(commit, 0));
    std::map<std::string, std::string> visible;
    for (const auto& [key, value] : entries_of(metadata.get())) {
        if (!invisible.contains(key)) {
            visible.emplace(
                key, g_variant_get_type_string(value.get()) + std::string(bytes_of(value.get())));
        }
    }
    return visible;
}

/// Parts of a commit object (ostree-core.h).
constexpr gsize subject = 3;
constexpr gsize root_tree = 6;
constexpr gsize root_meta = 7;

bool are_same(GVariant* one, GVariant* other, std::initializer_list<gsize> parts) {
    return std::ranges::all_of(parts, [&](gsize part) {
        const VariantHandle left(g_variant_get_child_value(one, part));
        const VariantHandle right(g_variant_get_child_value(other, part));
        return g_variant_equal(left.get(), right.get()) != FALSE;
    });
}

/// The object of a commit in the repository, and a new one.
std::pair<VariantHandle, VariantHandle> objects_of(const CommitView& commit,
                                                   const std::string& object) {
    VariantHandle old = commit.load(OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "");
    const Handle<GBytes, g_bytes_unref> bytes(g_bytes_new(object.data(), object.size()));
    VariantHandle made =
        own(g_variant_new_from_bytes(g_variant_get_type(old.get()), bytes.get(), FALSE));
    return {std::move(old), std::move(made)};
}

std::string record_of(const std::string& checksum, const std::string& inputs_digest) {
    return fmt::format("{} {}\n", checksum, inputs_digest);
}

}  // namespace

std::optional<CommitView> read_head(const Repo::Impl& repo) {
    const std::string checksum = find_commit(repo, repo.ref);
    if (checksum.empty()) {
        return std::nullopt;
    }
    try {
        return repo.view().commit_at(checksum, repo.ref);
    } catch (Error& failure) {
        throw failure.hinted(fmt::format(
            "the repository is damaged: check it with `ostree fsck`, pull the commit again, or "
            "delete the ref: ostree refs --repo={} --delete {}",
            shell_word(repo.path.string()), repo.ref));
    }
}

bool is_made_on(const CommitInfo& head, const std::optional<Parent>& parent) {
    const std::string checksum = parent ? parent->checksum : "";
    return head.checksum == checksum || head.parent == checksum;
}

std::int64_t commit_time(std::int64_t image_time, const std::optional<Parent>& parent,
                         const std::optional<CommitView>& head) {
    std::int64_t time = image_time;
    const auto follow = [&](const std::string& checksum, std::int64_t other) {
        if (other < 0 || other >= latest_time) {
            throw error("commit {} is from the year 9999 or later: there is no time after it",
                        checksum)
                .hinted("build onto another ref, or delete this one and have devices rebase");
        }
        time = std::max(time, other + 1);
    };
    if (parent) {
        follow(parent->checksum, parent->time);
    }
    if (head) {
        follow(head->info().checksum, head->info().time);
    }
    return time;
}

bool is_same_image(const CommitView& head, const std::string& object) {
    const auto [old, made] = objects_of(head, object);
    return are_same(old.get(), made.get(), {subject, root_tree, root_meta}) &&
           visible_metadata(old.get()) == visible_metadata(made.get());
}

bool has_same_files(const CommitView& other, const std::string& object) {
    const auto [old, made] = objects_of(other, object);
    return are_same(old.get(), made.get(), {root_tree, root_meta});
}

void record_inputs(const Repo::Impl& repo, const std::string& checksum,
                   const std::string& inputs_digest) {
    // Without it, the next build does all of its work again and comes to the same result.
    static_cast<void>(try_write_file_at(repo.open_directory(locks_directory).get(),
                                        repo.inputs_record(), record_of(checksum, inputs_digest),
                                        0644, false));
}

bool has_inputs(const Repo::Impl& repo, const CommitInfo& head, const std::string& inputs_digest) {
    if (head.inputs_digest == inputs_digest) {
        return true;
    }
    const std::string name = fmt::format("{}/{}", locks_directory, repo.inputs_record());
    const Fd file = open_at(repo.directory.get(), name, O_RDONLY | O_NONBLOCK,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    return file && read_file(file.get(), repo.shown(name), largest_record) ==
                       record_of(head.checksum, inputs_digest);
}

}  // namespace edgegpu
