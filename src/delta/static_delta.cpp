#include "delta/static_delta.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "delta/delta_content.hpp"
#include "delta/delta_part.hpp"
#include "execution/parallel.hpp"
#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// Contents of one part: an interrupted client goes on with the next part.
constexpr std::uint64_t part_size = 24ULL << 20U;

/// Parts that are made at a time, by memory: XZ takes 370 MB for one, and comparing as much.
constexpr unsigned most_jobs = 3;

/// ostree-repo-static-delta-private.h, OSTREE_STATIC_DELTA_SUPERBLOCK_FORMAT
constexpr const char* superblock_type = "(a{sv}tayay(a{sv}aya(say)sstayay)aya(uayttay)a(yaytt))";

/// Clients read at most so much (OSTREE_MAX_METADATA_SIZE; 10 MiB before 2023.4).
constexpr std::uint64_t largest_superblock = 128ULL << 20U;

/// In the metadata of the superblock, ours: bytes of all objects that a client lacks (`t`).
constexpr const char* stored_key = "edgegpu.stored";

/// The detached metadata's key in the metadata of the superblock.
std::string metadata_key(const std::string& from, const std::string& to) {
    return delta_path(from, to) + "/commitmeta";
}

std::string short_checksum(const std::string& checksum) {
    const std::string bytes = checksum_bytes(checksum);
    const TextHandle text(
        ostree_checksum_b64_from_bytes(reinterpret_cast<const guchar*>(bytes.data())));
    return text.get();
}

GVariant* checksum_variant(const std::string& checksum) {
    return ostree_checksum_to_bytes_v(checksum.c_str());
}

void write_in(const Fd& directory, const std::string& name, std::string_view bytes, bool durable) {
    if (!try_write_file_at(directory.get(), name, bytes, 0644, durable)) {
        const int code = errno;
        const fs::path place = fs::read_symlink(path_of_descriptor(directory.get()));
        throw write_error(place.string(), (place / name).string(), code);
    }
}

/// One part, without its bytes.
struct PartHeader {
    std::string checksum;
    std::uint64_t size = 0;
    std::uint64_t unpacked = 0;
    std::string objects;
    std::vector<NewFile> left_out;
};

/// Which files go into which part.
std::vector<std::span<const NewFile>> divide(const std::vector<NewFile>& files) {
    std::vector<std::span<const NewFile>> parts;
    std::size_t begin = 0;
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        // Those that may have equal contents stay together.
        const bool repeated = i > begin && files[i].size == files[i - 1].size &&
                              base_name(files[i].path) == base_name(files[i - 1].path);
        if (i > begin && !repeated && size + files[i].size > part_size) {
            parts.emplace_back(files.data() + begin, i - begin);
            begin = i;
            size = 0;
        }
        size += repeated ? 0 : files[i].size;
    }
    parts.emplace_back(files.data() + begin, files.size() - begin);
    return parts;
}

/// The numbers of the parts, those with most bytes first: what is begun last is soon done.
std::vector<std::size_t> largest_first(const std::vector<std::span<const NewFile>>& parts) {
    std::vector<std::size_t> numbers(parts.size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    std::ranges::stable_sort(numbers, std::ranges::greater(), [&](std::size_t number) {
        std::uint64_t size = 0;
        for (const NewFile& file : parts[number]) {
            size += file.size;
        }
        return size;
    });
    return numbers;
}

std::vector<PartHeader> write_parts(const Context& ctx, const CommitView& from,
                                    const CommitView& to, const DeltaContent& content,
                                    const Fd& directory, const DeltaOptions& options) {
    const std::vector<std::span<const NewFile>> parts = divide(content.files);
    std::vector<PartHeader> headers(parts.size());
    Context limited = ctx;
    limited.jobs = std::min(ctx.jobs, most_jobs);
    const std::vector<std::size_t> order = largest_first(parts);
    std::atomic<std::size_t> done{0};
    parallel_for(limited, parts.size(), [&](std::size_t place) {
        const std::size_t i = order[place];
        const std::span<const TreeObject> directories =
            i == 0 ? std::span<const TreeObject>(content.directories)
                   : std::span<const TreeObject>();
        DeltaPart part =
            make_delta_part(ctx, {from, to, parts[i], directories, options.largest_compared});
        if (!part.objects.empty()) {
            write_in(directory, std::to_string(i), part.bytes, options.durable);
        }
        headers[i] = {sha256_hex(part.bytes), part.bytes.size(), part.unpacked,
                      std::move(part.objects), std::move(part.left_out)};
        if (ctx.console != nullptr) {
            ctx.console->progress(++done, parts.size(), "parts of the delta made");
        }
    });
    ctx.check_cancelled();
    return headers;
}

/// Parts that make nothing are none: gives the others the numbers that clients ask for.
void renumber(std::vector<PartHeader>& headers, const Fd& directory) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < headers.size(); ++i) {
        if (headers[i].objects.empty()) {
            continue;
        }
        const std::string name = std::to_string(next);
        if (i != next && ::renameat(directory.get(), std::to_string(i).c_str(), directory.get(),
                                    name.c_str()) != 0) {
            throw errno_error(name, errno);
        }
        if (i != next) {
            headers[next] = std::move(headers[i]);
        }
        ++next;
    }
    headers.resize(next);
}

GVariant* part_headers(const std::vector<PartHeader>& parts) {
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("a(uayttay)"));
    for (const PartHeader& part : parts) {
        g_variant_builder_add(&list, "(u@aytt@ay)", 0U, checksum_variant(part.checksum),
                              guint64{part.size}, guint64{part.unpacked},
                              g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, part.objects.data(),
                                                        part.objects.size(), 1));
    }
    return g_variant_builder_end(&list);
}

GVariant* fallback_headers(const std::vector<NewFile>& files) {
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("a(yaytt)"));
    for (const NewFile& file : files) {
        g_variant_builder_add(&list, "(y@aytt)", OSTREE_OBJECT_TYPE_FILE,
                              checksum_variant(file.checksum), guint64{file.stored},
                              guint64{file.size});
    }
    return g_variant_builder_end(&list);
}

VariantHandle make_superblock(const CommitView& from, const CommitView& to, std::uint64_t stored,
                              const std::vector<PartHeader>& parts,
                              const std::vector<NewFile>& fallbacks) {
    GVariantBuilder metadata;
    g_variant_builder_init(&metadata, G_VARIANT_TYPE("a{sv}"));
    const char order = G_BYTE_ORDER == G_LITTLE_ENDIAN ? 'l' : 'B';
    g_variant_builder_add(&metadata, "{sv}", "ostree.endianness",
                          g_variant_new_byte(static_cast<guchar>(order)));
    g_variant_builder_add(&metadata, "{sv}", stored_key, g_variant_new_uint64(stored));
    const std::string& checksum = to.info().checksum;
    const VariantHandle detached = to.detached_metadata();
    if (detached) {
        g_variant_builder_add(&metadata, "{sv}",
                              metadata_key(from.info().checksum, checksum).c_str(), detached.get());
    }
    const VariantHandle commit = to.load(OSTREE_OBJECT_TYPE_COMMIT, checksum, "commit");
    return own(g_variant_new("(a{sv}t@ay@ay@(a{sv}aya(say)sstayay)@ay@a(uayttay)@a(yaytt))",
                             &metadata, GUINT64_TO_BE(static_cast<guint64>(to.info().time)),
                             checksum_variant(from.info().checksum), checksum_variant(checksum),
                             commit.get(),
                             g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, nullptr, 0, 1),
                             part_headers(parts), fallback_headers(fallbacks)));
}

/// Whether the directory has this part, undamaged.
bool has_part(const Fd& directory, std::size_t number, const std::string& checksum) {
    const Fd file = open_at(directory.get(), std::to_string(number), O_RDONLY | O_NONBLOCK,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    struct stat status {};
    return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
           sha256_file(path_of_descriptor(file.get())) == checksum;
}

/// The sizes in a superblock, if its parts are there; `path` is the delta's.
std::optional<StaticDelta> sizes_of(GVariant* superblock, const Fd& directory,
                                    const std::string& path) {
    StaticDelta delta;
    delta.superblock_bytes = g_variant_get_size(superblock);
    delta.bytes = delta.superblock_bytes;
    const VariantHandle metadata(g_variant_get_child_value(superblock, 0));
    const VariantHandle parts(g_variant_get_child_value(superblock, 6));
    delta.parts = g_variant_n_children(parts.get());
    for (std::size_t i = 0; i < delta.parts; ++i) {
        const VariantHandle header(g_variant_get_child_value(parts.get(), i));
        guint64 size = 0;
        guint64 unpacked = 0;
        g_variant_get(header.get(), "(u@aytt@ay)", nullptr, nullptr, &size, &unpacked, nullptr);
        // Other programs may put a part into the superblock.
        const VariantHandle inside(
            g_variant_lookup_value(metadata.get(), fmt::format("{}/{}", path, i).c_str(), nullptr));
        if (!inside && !has_part(directory, i, checksum_in(header.get(), 1))) {
            return std::nullopt;
        }
        delta.bytes += inside ? 0 : size;
        delta.requests += inside ? 0 : 1;
        delta.unpacked += unpacked;
    }
    const VariantHandle fallbacks(g_variant_get_child_value(superblock, 7));
    delta.fallbacks = g_variant_n_children(fallbacks.get());
    for (std::size_t i = 0; i < delta.fallbacks; ++i) {
        guint64 size = 0;
        guint64 unpacked = 0;
        g_variant_get_child(fallbacks.get(), i, "(y@aytt)", nullptr, nullptr, &size, &unpacked);
        delta.fallback_bytes += size;
        delta.unpacked += unpacked;
    }
    delta.requests += 1 + delta.fallbacks;
    return delta;
}

/// The superblock with other detached metadata, which may be null.
VariantHandle with_detached(GVariant* superblock, const std::string& key, GVariant* detached) {
    GVariantBuilder all;
    g_variant_builder_init(&all, G_VARIANT_TYPE(superblock_type));
    const VariantHandle metadata(g_variant_get_child_value(superblock, 0));
    GVariantBuilder others;
    g_variant_builder_init(&others, G_VARIANT_TYPE("a{sv}"));
    for (gsize i = 0; i < g_variant_n_children(metadata.get()); ++i) {
        const VariantHandle pair(g_variant_get_child_value(metadata.get(), i));
        const VariantHandle name(g_variant_get_child_value(pair.get(), 0));
        if (key != g_variant_get_string(name.get(), nullptr)) {
            g_variant_builder_add_value(&others, pair.get());
        }
    }
    if (detached != nullptr) {
        g_variant_builder_add(&others, "{sv}", key.c_str(), detached);
    }
    g_variant_builder_add_value(&all, g_variant_builder_end(&others));
    for (gsize i = 1; i < g_variant_n_children(superblock); ++i) {
        const VariantHandle child(g_variant_get_child_value(superblock, i));
        g_variant_builder_add_value(&all, child.get());
    }
    return own(g_variant_builder_end(&all));
}

}  // namespace

std::string delta_path(const std::string& from, const std::string& to) {
    const std::string end = short_checksum(to);
    const std::string start = from.empty() ? end : short_checksum(from);
    return fmt::format("deltas/{}/{}{}", start.substr(0, 2), start.substr(2),
                       from.empty() ? "" : '-' + end);
}

StaticDelta write_static_delta(const Context& ctx, const CommitView& from, const CommitView& to,
                               const Fd& directory, const DeltaOptions& options) {
    const DeltaContent content = compare_content(ctx, from, to);
    std::vector<PartHeader> parts = write_parts(ctx, from, to, content, directory, options);
    StaticDelta delta;
    std::vector<NewFile> fallbacks;
    for (const PartHeader& part : parts) {
        for (const NewFile& file : part.left_out) {
            fallbacks.push_back(file);
            delta.fallback_bytes += file.stored;
            delta.unpacked += file.size;
        }
    }
    renumber(parts, directory);
    for (const PartHeader& part : parts) {
        delta.bytes += part.size;
        delta.unpacked += part.unpacked;
    }
    delta.stored = content.stored;
    delta.parts = parts.size();
    delta.fallbacks = fallbacks.size();
    delta.requests = 1 + delta.parts + delta.fallbacks;
    const VariantHandle superblock = make_superblock(from, to, content.stored, parts, fallbacks);
    const std::string_view bytes = bytes_of(superblock.get());
    write_in(directory, superblock_name, bytes, options.durable);
    delta.superblock_bytes = bytes.size();
    delta.bytes += bytes.size();
    return delta;
}

VariantHandle load_superblock(const Fd& directory) {
    const Fd file = open_at(directory.get(), superblock_name, O_RDONLY | O_NONBLOCK,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<std::uint64_t>(status.st_size) > largest_superblock) {
        return nullptr;
    }
    return variant_from(G_VARIANT_TYPE(superblock_type), read_file(file.get(), superblock_name));
}

std::string index_path(const std::string& to) {
    const std::string name = short_checksum(to);
    return fmt::format("delta-indexes/{}/{}.index", name.substr(0, 2), name.substr(2));
}

std::optional<FoundDelta> find_static_delta(const Fd& directory, const std::string& from,
                                            const CommitView& to) {
    const VariantHandle superblock = load_superblock(directory);
    const std::string& checksum = to.info().checksum;
    if (!superblock || checksum_in(superblock.get(), 2) != from ||
        checksum_in(superblock.get(), 3) != checksum) {
        return std::nullopt;
    }
    const VariantHandle commit(g_variant_get_child_value(superblock.get(), 4));
    if (sha256_hex(bytes_of(commit.get())) != checksum) {
        return std::nullopt;
    }
    const std::optional<StaticDelta> sizes =
        sizes_of(superblock.get(), directory, delta_path(from, to.info().checksum));
    if (!sizes) {
        return std::nullopt;
    }
    FoundDelta found{*sizes, nullptr, checksum_bytes(sha256_hex(bytes_of(superblock.get())))};
    const VariantHandle metadata(g_variant_get_child_value(superblock.get(), 0));
    guint64 stored = 0;
    g_variant_lookup(metadata.get(), stored_key, "t", &stored);
    found.delta.stored = stored;
    const std::string key = metadata_key(from, to.info().checksum);
    const VariantHandle known(
        g_variant_lookup_value(metadata.get(), key.c_str(), G_VARIANT_TYPE("a{sv}")));
    const VariantHandle detached = to.detached_metadata();
    const bool same = known && detached ? g_variant_equal(known.get(), detached.get()) != FALSE
                                        : !known && !detached;
    if (!same) {
        found.renewed = with_detached(superblock.get(), key, detached.get());
    }
    return found;
}

std::optional<StaticDelta> delta_between(const RepositoryView& repository, const CommitView& from,
                                         const CommitView& to) {
    const Fd directory = open_at(ostree_repo_get_dfd(repository.handle()),
                                 delta_path(from.info().checksum, to.info().checksum),
                                 O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    const std::optional<FoundDelta> found =
        directory ? find_static_delta(directory, from.info().checksum, to) : std::nullopt;
    return found ? std::optional(found->delta) : std::nullopt;
}

}  // namespace edgegpu
