#include "rollout/facts.hpp"

#include <algorithm>

#include "microshift/version.hpp"
#include "repository/ostree_object.hpp"
#include "support/glib.hpp"

namespace edgegpu {

PlannedRelease release_of(const CommitView& commit) {
    const CommitInfo& info = commit.info();
    const VariantHandle object = commit.load(OSTREE_OBJECT_TYPE_COMMIT, info.checksum, "");
    const VariantHandle metadata(g_variant_get_child_value(object.get(), 0));
    PlannedRelease release;
    release.commit = info.checksum;
    release.version = plain_text(info.version);
    release.facts.time = info.time;
    release.facts.architecture = plain_text(
        metadata_text(metadata.get(), OSTREE_COMMIT_META_KEY_ARCHITECTURE, info.checksum));
    release.facts.driver = plain_text(info.driver);
    if (info.packages) {
        const auto package = std::ranges::find(*info.packages, "microshift", &Nevra::name);
        if (package != info.packages->end()) {
            if (const auto version = microshift_version(package->version)) {
                release.facts.microshift = version->text();
            }
        }
    }
    return release;
}

}  // namespace edgegpu
