#include "microshift/config_check.hpp"

#include <gtest/gtest.h>

#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

class MicroshiftConfigCheckTest : public BlueprintTest {
protected:
    /// The message of the check, without the directory.
    [[nodiscard]] std::string failure_in(std::string_view text, const char* version = "4.18",
                                         const char* schema = nullptr) const {
        const Blueprint blueprint = parse("distro = \"lab-12\"\n" + std::string(text));
        try {
            const auto known = microshift_version(version);
            if (schema != nullptr) {
                check_microshift_config(*blueprint.microshift.config, schema, *known);
            } else {
                check_microshift_config(blueprint.microshift, known);
            }
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            std::string rendered = error.render();
            const std::string prefix = directory_.string() + '/';
            for (std::size_t at = rendered.find(prefix); at != std::string::npos;
                 at = rendered.find(prefix)) {
                rendered.erase(at, prefix.size());
            }
            return rendered;
        }
        return "";
    }
};

TEST_F(MicroshiftConfigCheckTest, NamesThePlaceOfTheKey) {
    EXPECT_EQ(failure_in("[microshift]\nconfig.dns.baseDomain = \"a\"\n"), "");
    EXPECT_EQ(failure_in("[microshift.config.dns]\nbaseDomain = \"a\"\nbasedomain = 1\n"
                         "[microshift.config.network]\nclusterNetwork = [\n  \"10.0.0.0\" ]\n"),
              "error: b.toml:4:1: microshift.config.dns.basedomain: unknown field; did you mean "
              "\"baseDomain\"?\n"
              "hint: MicroShift ignores keys that it does not know, and does not start with values "
              "of another type\n"
              "error: b.toml:7:3: microshift.config.network.clusterNetwork[0]: \"10.0.0.0\" is not "
              "a network such as 10.42.0.0/16 or fd01::/48\n"
              "hint: with such a value MicroShift does not start, or ignores it\n");
}

TEST_F(MicroshiftConfigCheckTest, DependsOnTheVersion) {
    const char* text = "[microshift.config.telemetry]\nstatus = \"Disabled\"\n";
    EXPECT_NE(failure_in(text, "4.18").find("MicroShift 4.19 and later have it"),
              std::string::npos);
    EXPECT_EQ(failure_in(text, "4.19"), "");
    EXPECT_EQ(failure_in(text, ""), "");
    EXPECT_EQ(failure_in("[microshift.config]\nnewKey = 1\n", "5.90"), "")
        << "newer than the table";
    EXPECT_NE(failure_in("[microshift.config]\netcd.memoryLimitMB = 1\n", "5.90"), "");
}

TEST_F(MicroshiftConfigCheckTest, ManifestsElsewhereDisableBundles) {
    const std::string disabled = "config.manifests.kustomizePaths = []\n";
    EXPECT_EQ(failure_in("[microshift]\n" + disabled), "");
    put("bundle/kustomization.yaml", "resources: []\n");
    const std::string bundles = "[microshift]\nbundles = [\"./bundle\"]\n";
    EXPECT_NE(failure_in(bundles + disabled)
                  .find("b.toml:4:18: microshift.config.manifests.kustomizePaths: MicroShift looks "
                        "for manifests in no directory, and never applies"),
              std::string::npos);
    const auto with = [&](const std::string& place, const std::string& paths) {
        return failure_in(bundles + "manifests = \"" + place +
                          "\"\nconfig.manifests.kustomizePaths = [" + paths + "]\n");
    };
    EXPECT_NE(with("/etc/microshift/manifests", "\"/etc/other\"").find("never applies"),
              std::string::npos);
    EXPECT_EQ(with("/etc/microshift/manifests", "\"/etc/microshift/manifests\""), "");
    EXPECT_EQ(with("/etc/microshift/manifests.d", "\"/etc/microshift/manifests.d/*\""), "");
    EXPECT_EQ(with("/etc/microshift/manifests.d", "\"/etc/microshift/manifests.d/bundle\""), "");
    EXPECT_NE(with("/etc/microshift/manifests.d", "\"/etc/microshift/manifests.d\"")
                  .find("never applies"),
              std::string::npos);
}

TEST_F(MicroshiftConfigCheckTest, TheSchemaOfTheImage) {
    const char* schema = R"({"properties": {"dns": {"type": "object", "properties": {}}}})";
    EXPECT_EQ(failure_in("[microshift.config]\ndns = {}\n", "5.0", schema), "");
    EXPECT_EQ(failure_in("[microshift.config]\ndns.baseDomain = \"a\"\n", "5.0", schema),
              "error: b.toml:3:5: microshift.config.dns.baseDomain: unknown field\n"
              "hint: this is the schema of the image's MicroShift 5.0\n");
}

}  // namespace
}  // namespace edgegpu
