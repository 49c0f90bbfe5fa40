#include "repository/refs.hpp"

#include <cstddef>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <ostree.h>

#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

/// A summary of one ref, whose checksum has `bytes` bytes.
std::string summary_of(const char* ref, gsize bytes) {
    const std::string checksum(bytes, '\x2a');
    GVariant* binary =
        g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, checksum.data(), checksum.size(), 1);
    GVariant* value = g_variant_new("(t@aya{sv})", guint64{9}, binary, nullptr);
    GVariant* item = g_variant_new("(s@(taya{sv}))", ref, value);
    const VariantHandle summary = own(
        g_variant_new("(@a(s(taya{sv}))a{sv})", g_variant_new_array(nullptr, &item, 1), nullptr));
    return std::string(bytes_of(summary.get()));
}

TEST(RefsInSummary, HaveTheirChecksums) {
    std::string expected;
    for (int i = 0; i < 32; ++i) {
        expected += "2a";
    }
    EXPECT_EQ(refs_in_summary(summary_of("edge/stable", 32)),
              (std::map<std::string, std::string>{{"edge/stable", expected}}));
    EXPECT_EQ(refs_in_summary(summary_of("edge/stable", 31)),
              (std::map<std::string, std::string>{{"edge/stable", ""}}));
}

TEST(RefsInSummary, AreNoneInWhatIsNoSummary) {
    const std::string summary = summary_of("edge/stable", 32);
    for (std::size_t size = 0; size < summary.size(); ++size) {
        EXPECT_EQ(refs_in_summary(summary.substr(0, size)).count("edge/stable"), 0U) << size;
    }
    EXPECT_TRUE(refs_in_summary("no summary").empty());
}

}  // namespace
}  // namespace edgegpu
