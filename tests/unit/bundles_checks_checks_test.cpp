#include "bundles/checks/checks.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bundles_fixture.hpp"
#include "support/files/directory.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;

/// The bundles of tests/data/bundles/good, which scripts/check-bundles-on-api-server applies to a
/// real API server: whatever a check finds in one of them is a false alarm.
const fs::path good_bundles = fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/bundles/good";

std::vector<std::string> names_of_good_bundles() {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : children_of(good_bundles)) {
        names.push_back(entry.path().filename().string());
    }
    return names;
}

/// An image with all that is known of one, for devices with one A30.
ImageFacts facts_of_an_image() {
    ImageFacts facts;
    facts.kubernetes = {31};
    facts.architecture = "x86_64";
    facts.driver = "580.65.06";
    facts.devices = {"10de:20b7"};
    facts.packages = {"microshift", "nvidia-driver", "nvidia-container-toolkit", "crun"};
    return facts;
}

class GoodBundle : public testing::TestWithParam<std::string> {};

TEST_P(GoodBundle, CausesNoFalseAlarm) {
    ASSERT_FALSE(find_in_path("kustomize").empty()) << "scripts/setup installs kustomize";
    const Context ctx;
    try {
        static const Renderer renderer = find_renderer(ctx);
        const RenderedBundle bundle =
            render_bundle(ctx, renderer, read_bundle_files(GetParam(), good_bundles / GetParam()));
        EXPECT_FALSE(bundle.objects.empty());
        for (const ImageFacts& facts : {facts_without_blueprint(), facts_of_an_image()}) {
            check_bundles({bundle}, facts);
        }
    } catch (const Error& alarm) {
        ADD_FAILURE() << "false alarm: " << alarm.render();
    }
}

INSTANTIATE_TEST_SUITE_P(Bundles, GoodBundle, testing::ValuesIn(names_of_good_bundles()),
                         [](const testing::TestParamInfo<std::string>& each) {
                             std::string name = each.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(GoodBundles, AreMany) {
    EXPECT_GE(names_of_good_bundles().size(), 70U);
}

}  // namespace
}  // namespace edgegpu::test
