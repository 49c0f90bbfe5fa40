#include "commit/metadata.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "commit/object.hpp"
#include "repository/commit_view.hpp"
#include "repository/ostree_object.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {
namespace {

GVariant* text(const std::string& value) {
    return g_variant_new_string(value.c_str());
}

GVariant* texts(const std::vector<std::string>& values) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("as"));
    for (const std::string& value : values) {
        g_variant_builder_add(&builder, "s", value.c_str());
    }
    return g_variant_builder_end(&builder);
}

GVariant* big_endian(std::int64_t value) {
    return g_variant_new_uint64(GUINT64_TO_BE(static_cast<std::uint64_t>(value)));
}

// Name, epoch ("0" if there is none), version, release, architecture.
GVariant* package_list(std::vector<Nevra> packages) {
    std::ranges::sort(packages);
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a(sssss)"));
    for (const Nevra& nevra : packages) {
        g_variant_builder_add(&builder, "(sssss)", nevra.name.c_str(),
                              std::to_string(nevra.epoch).c_str(), nevra.version.c_str(),
                              nevra.release.c_str(), nevra.arch.c_str());
    }
    return g_variant_builder_end(&builder);
}

std::vector<ResolvedRepository> sorted_repositories(const Resolution& resolution) {
    std::vector<ResolvedRepository> repositories = resolution.repositories;
    std::ranges::sort(repositories, {}, &ResolvedRepository::id);
    return repositories;
}

/// `unknown` is the time for a repository whose metadata have none.
GVariant* repository_list(const Resolution& resolution, std::int64_t unknown) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (const ResolvedRepository& repository : sorted_repositories(resolution)) {
        g_variant_builder_open(&builder, G_VARIANT_TYPE("a{sv}"));
        g_variant_builder_add(&builder, "{sv}", "id", text(repository.id));
        g_variant_builder_add(
            &builder, "{sv}", "timestamp",
            big_endian(repository.revision_time > 0 ? repository.revision_time : unknown));
        g_variant_builder_close(&builder);
    }
    return g_variant_builder_end(&builder);
}

// 0: none or unknown, 1: low, …, as in rpm-ostree's clients.
std::uint32_t severity_number(const std::string& severity) {
    constexpr std::array<const char*, 4> names{"low", "moderate", "important", "critical"};
    std::uint32_t number = 0;
    for (const char* name : names) {
        ++number;
        if (g_ascii_strcasecmp(severity.c_str(), name) == 0) {
            return number;
        }
    }
    return 0;
}

// Id, kind, severity, NEVRAs, and "cve_references": URL and title.
GVariant* advisory_list(const Resolution& resolution) {
    constexpr std::uint32_t security = 1;  // libdnf's DnfAdvisoryKind; clients show no others
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a(suuasa{sv})"));
    for (const FixedAdvisory& advisory : resolution.advisories) {
        GVariantBuilder references;
        g_variant_builder_init(&references, G_VARIANT_TYPE("a(ss)"));
        for (const FixedAdvisory::Reference& reference : advisory.references) {
            g_variant_builder_add(&references, "(ss)", reference.url.c_str(),
                                  reference.title.c_str());
        }
        GVariantBuilder more;
        g_variant_builder_init(&more, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&more, "{sv}", "cve_references", g_variant_builder_end(&references));
        g_variant_builder_add(&builder, "(suu@as@a{sv})", advisory.id.c_str(),
                              GUINT32_TO_BE(security),
                              GUINT32_TO_BE(severity_number(advisory.severity)),
                              texts(advisory.packages), g_variant_builder_end(&more));
    }
    return g_variant_builder_end(&builder);
}

// Name, "sha256:…" of what its source leads to, bytes of the compressed layers.
GVariant* image_list(std::vector<ResolvedImage> images) {
    std::ranges::sort(images, {}, &ResolvedImage::name);
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a(sst)"));
    for (const ResolvedImage& image : images) {
        g_variant_builder_add(&builder, "(sst)", image.name.c_str(),
                              ("sha256:" + image.digest).c_str(), GUINT64_TO_BE(image.size));
    }
    return g_variant_builder_end(&builder);
}

}  // namespace

VariantHandle commit_metadata(const Context& ctx, const Blueprint& blueprint,
                              const Resolution& resolution, const Tree& tree,
                              const std::string& inputs_digest) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    const auto add = [&](const char* key, GVariant* value) {
        g_variant_builder_add(&builder, "{sv}", key, value);
    };
    std::vector<ResolvedImage> images = images_of_image(resolution);
    if (!images.empty()) {
        add("edgegpu.container-images", image_list(std::move(images)));
    }
    constexpr const char* gpu_stack = "/usr/lib/edgegpu/gpu-stack.json";
    if (find_entry(tree, gpu_stack) != nullptr) {
        add("edgegpu.gpu-stack", text(read_entry(tree, gpu_stack)));
    }
    add("edgegpu.inputs-digest", text(inputs_digest));
    if (!tree.kernel_arguments.empty()) {
        add("edgegpu.kargs", texts(tree.kernel_arguments));
    }
    if (resolution.parent) {
        add("edgegpu.layered-on", text(resolution.parent->commit));
        if (!resolution.parent->image_digest.empty()) {
            add("edgegpu.layered-on-image", text(resolution.parent->image_digest));
        }
    }
    if (!resolution.driver_version.empty()) {
        add("edgegpu.nvidia-driver", text(resolution.driver_version));
    }
    if (tree.update_system == UpdateSystem::snapshots) {
        add(update_system_key, text(snapshots_name));
    }
    add("ostree.architecture", text(blueprint.architecture));
    if (!resolution.kernel_uname.empty()) {
        if (tree.update_system == UpdateSystem::ostree) {
            add("ostree.bootable", g_variant_new_boolean(TRUE));
        }
        add("ostree.linux", text(resolution.kernel_uname));
    }
    add("ostree.ref-binding", texts({blueprint.ostree.ref}));
    if (!resolution.advisories.empty()) {
        add("rpmostree.advisories", advisory_list(resolution));
    }
    add("rpmostree.initramfs-args", texts(tree.initramfs_arguments));
    add("rpmostree.inputhash", text(inputs_digest));
    add("rpmostree.rpmdb.pkglist", package_list(tree.packages));
    add("rpmostree.rpmmd-repos", repository_list(resolution, ctx.source_date_epoch));
    add("version", text(blueprint.version));
    return own(g_variant_builder_end(&builder));
}

VariantHandle detached_metadata(const Resolution& resolution) {
    GVariantBuilder repositories;
    g_variant_builder_init(&repositories, G_VARIANT_TYPE("aa{sv}"));
    for (const ResolvedRepository& repository : sorted_repositories(resolution)) {
        g_variant_builder_open(&repositories, G_VARIANT_TYPE("a{sv}"));
        g_variant_builder_add(&repositories, "{sv}", "id", text(repository.id));
        g_variant_builder_add(&repositories, "{sv}", "repomd-sha256",
                              text(repository.repomd_sha256));
        g_variant_builder_add(&repositories, "{sv}", "timestamp",
                              big_endian(repository.revision_time));
        g_variant_builder_close(&repositories);
    }
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    g_variant_builder_add(&builder, "{sv}", "edgegpu.rpmmd-repos",
                          g_variant_builder_end(&repositories));
    return own(g_variant_builder_end(&builder));
}

std::string commit_object(GVariant* metadata, const std::string& parent, const std::string& subject,
                          std::int64_t time, const std::string& tree_checksum,
                          const std::string& meta_checksum) {
    const std::string parent_bytes = parent.empty() ? "" : checksum_bytes(parent);
    const std::string tree_bytes = checksum_bytes(tree_checksum);
    const std::string meta_bytes = checksum_bytes(meta_checksum);
    const auto bytes = [](const std::string& value) {
        return g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, value.data(), value.size(), 1);
    };
    const VariantHandle commit = own(g_variant_new(
        "(@a{sv}@ay@a(say)sst@ay@ay)", metadata, bytes(parent_bytes),
        g_variant_new_array(G_VARIANT_TYPE("(say)"), nullptr, 0), subject.c_str(), "",
        GUINT64_TO_BE(static_cast<std::uint64_t>(time)), bytes(tree_bytes), bytes(meta_bytes)));
    std::string serialised(g_variant_get_size(commit.get()), '\0');
    g_variant_store(commit.get(), serialised.data());
    return serialised;
}

}  // namespace edgegpu
