#include "publish/promotion.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;

class PromotionTest : public testing::Test {
protected:
    PromotionTest() { built_ = fixture_.build("one"); }

    [[nodiscard]] RepositoryView view() const { return RepositoryView(fixture_.repo()); }
    /// A commit of the promotion of `source`, in the repository.
    [[nodiscard]] CommitView promoted(const CommitView& source,
                                      const PromotedCommit& commit) const {
        return written(promoted_object(source, commit));
    }
    [[nodiscard]] CommitView written(const std::string& object) const {
        const RepositoryView repository = view();
        const Handle<GBytes, g_bytes_unref> bytes(g_bytes_new(object.data(), object.size()));
        const VariantHandle variant =
            own(g_variant_new_from_bytes(OSTREE_COMMIT_GVARIANT_FORMAT, bytes.get(), FALSE));
        EXPECT_NE(g_variant_is_normal_form(variant.get()), FALSE);
        EXPECT_NE(ostree_validate_structureof_commit(variant.get(), nullptr), FALSE);
        const std::string checksum = sha256_hex(object);
        EXPECT_NE(
            ostree_repo_write_metadata(repository.handle(), OSTREE_OBJECT_TYPE_COMMIT,
                                       checksum.c_str(), variant.get(), nullptr, nullptr, nullptr),
            FALSE);
        return repository.commit_at(checksum, checksum);
    }
    /// Key → value, as text.
    [[nodiscard]] static std::map<std::string, std::string> metadata_of(const CommitView& commit) {
        const VariantHandle object =
            commit.load(OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "");
        const VariantHandle all(g_variant_get_child_value(object.get(), 0));
        std::map<std::string, std::string> values;
        for (gsize i = 0; i < g_variant_n_children(all.get()); ++i) {
            const char* key = nullptr;
            GVariant* content = nullptr;
            g_variant_get_child(all.get(), i, "{&sv}", &key, &content);
            const VariantHandle value(content);
            const TextHandle text(g_variant_print(content, FALSE));
            EXPECT_TRUE(values.emplace(key, text.get()).second) << key << " is there twice";
        }
        return values;
    }

    // NOLINTBEGIN(*-non-private-*)
    CommitFixture fixture_;
    Commit built_;
    const PromotedCommit to_stable_{"edge/stable",
                                    "",
                                    "",
                                    1'700'000'001,
                                    {"", "edge/canary", "ann", 1'800'000'000, "tried"},
                                    {}};
    // NOLINTEND(*-non-private-*)
};

TEST_F(PromotionTest, KeepsTheImage) {
    const CommitView source = view().open(built_.ref);
    PromotedCommit commit = to_stable_;
    commit.promotion.from = source.info().checksum;
    commit.parent = source.info().checksum;
    const CommitView made = promoted(source, commit);
    EXPECT_EQ(made.root(), source.root());
    EXPECT_EQ(made.info().time, 1'700'000'001);
    EXPECT_EQ(made.info().parent, source.info().checksum);
    EXPECT_EQ(made.info().bound_refs, std::vector<std::string>{"edge/stable"});
    EXPECT_EQ(made.info().version, source.info().version);
    EXPECT_EQ(made.info().packages, source.info().packages);
    std::map<std::string, std::string> before = metadata_of(source);
    std::map<std::string, std::string> after = metadata_of(made);
    before.erase("ostree.ref-binding");
    for (const auto& [key, value] : before) {
        EXPECT_EQ(after[key], value) << key;
        after.erase(key);
    }
    EXPECT_EQ(after.size(), 7U) << "its own, and no others";
    EXPECT_EQ(after["edgegpu.promoted-by"], "'ann'");
    const ChannelRecord record = read_channel_record(made);
    ASSERT_TRUE(record.promotion);
    EXPECT_EQ(record.promotion->from, source.info().checksum);
    EXPECT_EQ(record.promotion->from_ref, "edge/canary");
    EXPECT_EQ(record.promotion->at, 1'800'000'000);
    EXPECT_EQ(record.promotion->reason, "tried");
    EXPECT_EQ(record.image_time, source.info().time);
    EXPECT_EQ(record.end, EndOfLife());
    EXPECT_FALSE(read_channel_record(source).promotion);
}

TEST_F(PromotionTest, WhatBelongsToTheRefIsReplaced) {
    const CommitView source = view().open(built_.ref);
    PromotedCommit first = to_stable_;
    first.promotion.from = source.info().checksum;
    first.collection = "org.example.One";
    first.end = {"it has ended", "edge/next"};
    const CommitView ended = promoted(source, first);
    EXPECT_EQ(read_channel_record(ended).end, first.end);
    PromotedCommit second = to_stable_;
    second.ref = "edge/last";
    second.promotion = {ended.info().checksum, "", "bob", 1, ""};
    const CommitView next = promoted(ended, second);
    const ChannelRecord record = read_channel_record(next);
    EXPECT_EQ(record.end, EndOfLife());
    EXPECT_EQ(record.image_time, source.info().time);
    ASSERT_TRUE(record.promotion);
    EXPECT_EQ(record.promotion->by, "bob");
    EXPECT_EQ(record.promotion->reason, "");
    EXPECT_EQ(next.info().bound_refs, std::vector<std::string>{"edge/last"});
    EXPECT_EQ(metadata_of(next)["ostree.collection-binding"], "'org.example.One'");
    second.collection = "org.example.Two";
    EXPECT_EQ(metadata_of(promoted(ended, second))["ostree.collection-binding"],
              "'org.example.Two'");
}

TEST_F(PromotionTest, MetadataOfAnotherFormAreRefused) {
    const std::string command =
        "ostree --repo=" + fixture_.repo().string() + " commit --orphan --tree=ref=" + built_.ref;
    for (const char* pair : {"edgegpu.promoted-from=1", "edgegpu.image-time='noon'",
                             "ostree.endoflife=true", "ostree.endoflife-rebase=['x']"}) {
        std::string checksum =
            test::output_of(command + " --add-metadata=\"" + std::string(pair) + '"');
        checksum.resize(64);
        EXPECT_THROW((void)read_channel_record(view().open(checksum)), Error) << pair;
    }
}

TEST_F(PromotionTest, SignaturesAreThoseOfTheSourceAlone) {
    const RepositoryView repository = view();
    const CommitView source = repository.open(built_.ref);
    GVariantDict all;
    g_variant_dict_init(&all, nullptr);
    for (const char* key : {"ostree.gpgsigs", "ostree.sign.ed25519", "ostree.sign.spki"}) {
        g_variant_dict_insert_value(&all, key, g_variant_new("aay", nullptr));
    }
    g_variant_dict_insert(&all, "edgegpu.rpmmd-repos", "s", "kept");
    const VariantHandle detached = own(g_variant_dict_end(&all));
    ASSERT_NE(
        ostree_repo_write_commit_detached_metadata(
            repository.handle(), source.info().checksum.c_str(), detached.get(), nullptr, nullptr),
        FALSE);
    const VariantHandle left = unsigned_metadata(source);
    const TextHandle text(g_variant_print(left.get(), FALSE));
    EXPECT_STREQ(text.get(), "{'edgegpu.rpmmd-repos': <'kept'>}");
}

}  // namespace
}  // namespace edgegpu
