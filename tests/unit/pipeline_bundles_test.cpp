#include "pipeline/bundles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/commit_fixture.hpp"
#include "bundles_fixture.hpp"
#include "customise/files/files.hpp"
#include "image/entries.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

constexpr const char* tombstone = "/etc/microshift/manifests.d/delete/app/objects.yaml";

/// A parent commit with the bundle "app", and an image without it.
class AddTombstones : public OwnPath {
protected:
    void SetUp() override {
        link_real_kustomize();
        fixture_.add_directory("/usr/etc/microshift");
        fixture_.add_directory("/usr/etc/microshift/manifests.d");
        fixture_.add_directory("/usr/etc/microshift/manifests.d/app");
        const std::string app = "/usr/etc/microshift/manifests.d/app/";
        fixture_.add_file(app + "kustomization.yaml", "resources: [a.yaml]\n");
        fixture_.add_file(app + "a.yaml",
                          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n");
        (void)fixture_.build();
        fixture_.tree.entries.clear();
        for (const char* path : {"/", "/etc", "/etc/microshift", "/etc/microshift/manifests.d"}) {
            fixture_.add_directory(path);
        }
    }

    /// What is shown on stderr.
    std::string add() {
        blueprint_.microshift.manifests = ManifestsPlace::etc;
        testing::internal::CaptureStderr();
        {
            Console console(Color::never);
            Context ctx = fixture_.ctx();
            ctx.console = &console;
            const Repo repo(ctx, fixture_.repo(), fixture_.blueprint.ostree.ref);
            Signer signer;
            const auto parent =
                read_parent(fixture_.ctx(), repo, fixture_.blueprint.ostree, signer);
            add_tombstones(ctx, blueprint_, {}, KubernetesVersion{31}, repo, *parent,
                           fixture_.tree);
        }
        return testing::internal::GetCapturedStderr();
    }
    [[nodiscard]] bool deletes() const { return fixture_.tree.entries.contains(tombstone); }

    // NOLINTBEGIN(*-non-private-*)
    CommitFixture fixture_;
    Blueprint blueprint_;
    // NOLINTEND(*-non-private-*)
};

TEST_F(AddTombstones, ThatOfAParentStaysAsItIs) {
    blueprint_.parent.emplace();
    const std::string theirs = "/etc/microshift/manifests.d/delete/app";
    fixture_.add_directory("/etc/microshift/manifests.d/delete");
    fixture_.add_directory(theirs);
    fixture_.add_file(theirs + "/kustomization.yaml", "resources: [theirs.yaml]\n");
    EXPECT_EQ(add(), "");
    EXPECT_EQ(read_entry(fixture_.tree, theirs + "/kustomization.yaml"),
              "resources: [theirs.yaml]\n");
    EXPECT_FALSE(deletes());
}

TEST_F(AddTombstones, ABundleThatIsGone) {
    fixture_.add_directory("/etc/microshift/config.d");
    fixture_.add_file("/etc/microshift/config.d/default.yaml",
                      "manifests:\n  kustomizePaths:\n  - /usr/lib/microshift/manifests\n"
                      "  - /usr/lib/microshift/manifests.d/*\n  - /etc/microshift/manifests\n"
                      "  - /etc/microshift/manifests.d/*\n");
    fixture_.add_link("/etc/microshift/other", "/usr/share/other");
    EXPECT_THAT(add(), HasSubstr("bundle \"app\" is gone"));
    EXPECT_TRUE(deletes());
}

TEST_F(AddTombstones, NotIfManifestsAreLinks) {
    fixture_.add_link("/etc/microshift/manifests.d/app", "/usr/share/app");
    EXPECT_THAT(add(), HasSubstr("the image's /etc/microshift/manifests.d/app is a link"));
    EXPECT_FALSE(deletes());
}

TEST_F(AddTombstones, NotIfMicroshiftIsInALink) {
    fixture_.add_link("/usr/lib/microshift", "/usr/share/microshift");
    EXPECT_THAT(add(), HasSubstr("the image's /usr/lib/microshift is a link"));
    EXPECT_FALSE(deletes());
}

TEST_F(AddTombstones, NotIfManifestsAreElsewhere) {
    fixture_.add_file("/etc/microshift/config.yaml",
                      "manifests:\n  kustomizePaths: [/usr/share/app]\n");
    EXPECT_THAT(add(), HasSubstr("sets manifests.kustomizePaths"));
    EXPECT_FALSE(deletes());
}

}  // namespace
}  // namespace edgegpu::test
