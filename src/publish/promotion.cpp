#include "publish/promotion.hpp"

#include <set>
#include <string_view>
#include <vector>

#include "repository/ostree_object.hpp"
#include "repository/tree_objects.hpp"
#include "support/glib.hpp"

namespace edgegpu {

namespace {

constexpr const char* from_key = "edgegpu.promoted-from";
constexpr const char* ref_key = "edgegpu.promoted-ref";
constexpr const char* by_key = "edgegpu.promoted-by";
constexpr const char* at_key = "edgegpu.promoted-at";
constexpr const char* reason_key = "edgegpu.promoted-reason";
constexpr const char* image_time_key = "edgegpu.image-time";

/// What belongs to the ref that a commit was made for, and not to its tree.
const std::set<std::string_view> keys_of_ref{from_key,
                                             ref_key,
                                             by_key,
                                             at_key,
                                             reason_key,
                                             image_time_key,
                                             OSTREE_COMMIT_META_KEY_REF_BINDING,
                                             OSTREE_COMMIT_META_KEY_ENDOFLIFE,
                                             OSTREE_COMMIT_META_KEY_ENDOFLIFE_REBASE};

/// Parts of a commit object (ostree-core.h).
enum Part : gsize { metadata, parent, related, subject, body, timestamp, root_tree, root_meta };

VariantHandle metadata_of(const CommitView& commit) {
    const VariantHandle object = commit.load(OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "");
    return VariantHandle(g_variant_get_child_value(object.get(), Part::metadata));
}

std::optional<std::int64_t> time_in(GVariant* values, const char* key, const std::string& commit) {
    const VariantHandle value = metadata_value(values, key, "t", commit);
    return value ? std::optional(static_cast<std::int64_t>(
                       GUINT64_FROM_BE(g_variant_get_uint64(value.get()))))
                 : std::nullopt;
}

GVariant* big_endian_time(std::int64_t value) {
    return g_variant_new_uint64(GUINT64_TO_BE(static_cast<std::uint64_t>(value)));
}

/// All pairs of an a{sv}, in its order, but those whose keys `left_out` names.
template <typename LeftOut>
void copy_pairs(GVariantBuilder& builder, GVariant* values, LeftOut&& left_out) {
    for (const VariantHandle& pair : children_of(values)) {
        const char* key = nullptr;
        g_variant_get_child(pair.get(), 0, "&s", &key);
        if (!left_out(std::string_view(key))) {
            g_variant_builder_add_value(&builder, pair.get());
        }
    }
}

/// Keys in a fixed order: those of the source, then the new ones.
GVariant* promoted_metadata(const CommitView& source, const PromotedCommit& promoted) {
    const VariantHandle old = metadata_of(source);
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    copy_pairs(builder, old.get(), [&](std::string_view key) {
        return keys_of_ref.contains(key) ||
               (key == OSTREE_COMMIT_META_KEY_COLLECTION_BINDING && !promoted.collection.empty());
    });
    const auto add = [&](const char* key, const std::string& text) {
        if (!text.empty()) {
            g_variant_builder_add(&builder, "{sv}", key, g_variant_new_string(text.c_str()));
        }
    };
    g_variant_builder_add(&builder, "{sv}", image_time_key,
                          big_endian_time(read_channel_record(source).image_time));
    g_variant_builder_add(&builder, "{sv}", at_key, big_endian_time(promoted.promotion.at));
    add(by_key, promoted.promotion.by);
    add(from_key, promoted.promotion.from);
    add(reason_key, promoted.promotion.reason);
    add(ref_key, promoted.promotion.from_ref);
    add(OSTREE_COMMIT_META_KEY_COLLECTION_BINDING, promoted.collection);
    add(OSTREE_COMMIT_META_KEY_ENDOFLIFE, promoted.end.text);
    add(OSTREE_COMMIT_META_KEY_ENDOFLIFE_REBASE, promoted.end.rebase);
    const char* ref = promoted.ref.c_str();
    g_variant_builder_add(&builder, "{sv}", OSTREE_COMMIT_META_KEY_REF_BINDING,
                          g_variant_new_strv(&ref, 1));
    return g_variant_builder_end(&builder);
}

}  // namespace

ChannelRecord read_channel_record(const CommitView& commit) {
    const VariantHandle values = metadata_of(commit);
    const std::string& name = commit.info().checksum;
    const auto text = [&](const char* key) { return metadata_text(values.get(), key, name); };
    ChannelRecord record;
    record.image_time = time_in(values.get(), image_time_key, name).value_or(commit.info().time);
    record.end = {text(OSTREE_COMMIT_META_KEY_ENDOFLIFE),
                  text(OSTREE_COMMIT_META_KEY_ENDOFLIFE_REBASE)};
    record.architecture = text(OSTREE_COMMIT_META_KEY_ARCHITECTURE);
    if (std::string from = text(from_key); !from.empty()) {
        record.promotion =
            Promotion{std::move(from), text(ref_key), text(by_key),
                      time_in(values.get(), at_key, name).value_or(0), text(reason_key)};
    }
    return record;
}

std::string promoted_object(const CommitView& source, const PromotedCommit& promoted) {
    const VariantHandle old = source.load(OSTREE_OBJECT_TYPE_COMMIT, source.info().checksum, "");
    const std::string parent_bytes =
        promoted.parent.empty() ? std::string() : checksum_bytes(promoted.parent);
    const auto kept = [&](Part part) { return g_variant_get_child_value(old.get(), part); };
    const VariantHandle parts[] = {
        VariantHandle(kept(Part::related)), VariantHandle(kept(Part::subject)),
        VariantHandle(kept(Part::body)), VariantHandle(kept(Part::root_tree)),
        VariantHandle(kept(Part::root_meta))};
    const VariantHandle object = own(g_variant_new(
        "(@a{sv}@ay@a(say)@s@st@ay@ay)", promoted_metadata(source, promoted),
        g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, parent_bytes.data(), parent_bytes.size(), 1),
        parts[0].get(), parts[1].get(), parts[2].get(),
        GUINT64_TO_BE(static_cast<std::uint64_t>(promoted.time)), parts[3].get(), parts[4].get()));
    std::string bytes(g_variant_get_size(object.get()), '\0');
    g_variant_store(object.get(), bytes.data());
    return bytes;
}

VariantHandle unsigned_metadata(const CommitView& source) {
    const VariantHandle old = source.detached_metadata();
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    copy_pairs(builder, old.get(), [](std::string_view key) {
        return key == signatures_key || key.starts_with("ostree.sign.");
    });
    return own(g_variant_builder_end(&builder));
}

DeviceDownload download_of(const Context& ctx, const CommitView& source, const CommitView& head) {
    std::set<std::string> present;
    const TreeObjects old = list_objects(ctx, head);
    for (const std::vector<TreeObject>* list : {&old.files, &old.directories}) {
        for (const TreeObject& object : *list) {
            present.insert(object.checksum);
        }
    }
    DeviceDownload download;
    const TreeObjects all = list_objects(ctx, source);
    for (const TreeObject& object : all.files) {
        if (!present.contains(object.checksum)) {
            ++download.objects;
            download.bytes += source.stored_size(object.checksum, object.path);
        }
    }
    for (const TreeObject& object : all.directories) {
        if (!present.contains(object.checksum)) {
            const VariantHandle content = source.load(object.type, object.checksum, object.path);
            ++download.objects;
            download.bytes += g_variant_get_size(content.get());
        }
    }
    return download;
}

}  // namespace edgegpu
