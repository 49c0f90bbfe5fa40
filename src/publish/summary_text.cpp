#include "publish/summary_text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include <ostree.h>

#include "support/glib.hpp"

namespace edgegpu {

namespace {

/// ostree-repo.c: the size of the commit object, its checksum and its time.
GVariant* summarised(const CommitView& commit) {
    const CommitInfo& info = commit.info();
    GVariantDict metadata;
    g_variant_dict_init(&metadata, nullptr);
    g_variant_dict_insert_value(
        &metadata, "ostree.commit.timestamp",
        g_variant_new_uint64(GUINT64_TO_BE(static_cast<guint64>(info.time))));
    return g_variant_new(
        "(t@ay@a{sv})",
        guint64{commit.metadata_size(OSTREE_OBJECT_TYPE_COMMIT, info.checksum, "commit")},
        ostree_checksum_to_bytes_v(info.checksum.c_str()), g_variant_dict_end(&metadata));
}

}  // namespace

std::string summary_of(const std::vector<const CommitView*>& commits,
                       const std::string& collection) {
    std::map<std::string, const CommitView*> sorted;
    std::int64_t newest = 0;
    for (const CommitView* commit : commits) {
        sorted[commit->info().name] = commit;
        newest = std::max(newest, commit->info().time);
    }
    GVariantBuilder refs;
    g_variant_builder_init(&refs, G_VARIANT_TYPE("a(s(taya{sv}))"));
    for (const auto& [ref, commit] : sorted) {
        g_variant_builder_add(&refs, "(s@(taya{sv}))", ref.c_str(), summarised(*commit));
    }
    GVariantBuilder metadata;
    g_variant_builder_init(&metadata, G_VARIANT_TYPE("a{sv}"));
    const auto add = [&](const char* key, GVariant* value) {
        g_variant_builder_add(&metadata, "{sv}", key, value);
    };
    if (!collection.empty()) {
        add("ostree.summary.collection-id", g_variant_new_string(collection.c_str()));
    }
    add("ostree.summary.indexed-deltas", g_variant_new_boolean(FALSE));
    add("ostree.summary.last-modified",
        g_variant_new_uint64(GUINT64_TO_BE(static_cast<guint64>(newest))));
    add("ostree.summary.mode", g_variant_new_string("archive-z2"));
    add("ostree.summary.tombstone-commits", g_variant_new_boolean(FALSE));
    const VariantHandle summary = own(g_variant_new("(a(s(taya{sv}))a{sv})", &refs, &metadata));
    return std::string(bytes_of(summary.get()));
}

}  // namespace edgegpu
