#include "publish/summary_view.hpp"

#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

#include "delta/delta_check.hpp"
#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"

namespace edgegpu {

namespace {

/// Clients read at most so much (OSTREE_MAX_METADATA_SIZE).
constexpr std::uint64_t largest_file = 128ULL << 20U;

}  // namespace

std::string file_of(const RepositoryView& repository, const std::string& name) {
    const Fd file = open_at(ostree_repo_get_dfd(repository.handle()), name, O_RDONLY | O_NONBLOCK,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (!file) {
        if (errno == ENOENT) {
            return {};
        }
        throw errno_error(repository.path() + '/' + name, errno);
    }
    return read_file(file.get(), repository.path() + '/' + name, largest_file);
}

SummaryView read_summary(const RepositoryView& repository) {
    SummaryView view;
    view.text = file_of(repository, "summary");
    view.exists = ::faccessat(ostree_repo_get_dfd(repository.handle()), "summary", F_OK,
                              AT_SYMLINK_NOFOLLOW) == 0;
    const VariantHandle summary =
        variant_from(G_VARIANT_TYPE(OSTREE_SUMMARY_GVARIANT_STRING), view.text);
    if (!view.exists || !summary) {
        return view;
    }
    view.readable = true;
    const VariantHandle refs(g_variant_get_child_value(summary.get(), 0));
    for (gsize i = 0; i < g_variant_n_children(refs.get()); ++i) {
        const VariantHandle item(g_variant_get_child_value(refs.get(), i));
        const char* name = nullptr;
        g_variant_get_child(item.get(), 0, "&s", &name);
        const VariantHandle value(g_variant_get_child_value(item.get(), 1));
        view.refs[name] = checksum_in(value.get(), 1);
    }
    const VariantHandle metadata(g_variant_get_child_value(summary.get(), 1));
    view.deltas = named_deltas(metadata.get());
    return view;
}

}  // namespace edgegpu
