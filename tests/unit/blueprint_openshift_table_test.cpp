#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/tables/tables.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view before_openshift =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
    "repo_gpgcheck = false\n[accounts]\nlogin = \"none\"\n";
constexpr std::string_view least = "[openshift]\npool = \"gpu\"\nimage = \"q.example/edge/node\"\n";

class OpenshiftTableTest : public BlueprintTest {
protected:
    [[nodiscard]] OpenshiftRequest openshift(const std::string& text) const {
        return parse(std::string(before_openshift) + std::string(least) + text).openshift.value();
    }
    /// The error of checking a blueprint with this text, from line 9 on.
    [[nodiscard]] std::string mistakes(const std::string& text) const {
        return failure(std::string(before_openshift) + text, true);
    }
    [[nodiscard]] std::string mistakes_after_least(const std::string& text) const {
        return mistakes(std::string(least) + text);
    }
};

TEST_F(OpenshiftTableTest, IsRead) {
    EXPECT_FALSE(parse(std::string(before_openshift)).openshift.has_value());
    const OpenshiftRequest plain = openshift("");
    EXPECT_EQ(plain.pool, "gpu");
    EXPECT_EQ(plain.image, "q.example/edge/node");
    EXPECT_TRUE(plain.tls_verify);
    EXPECT_FALSE(plain.on_cluster_build.has_value());
    const OpenshiftRequest all = openshift(R"(tls_verify = false
[openshift.on_cluster_build]
push_to = "image-registry.openshift-image-registry.svc:5000/ns/node:1"
push_secret = "push"
pull_secret = "pull.one"
[[openshift.machine_sets]]
source = "/sets/a.yaml"
name = "gpu-a"
instance_type = "g5.xlarge"
replicas = 0
[[openshift.machine_sets]]
source = "/sets/b.yaml"
name = "gpu-b"
accelerator = "nvidia-tesla-t4"
accelerators = 4
)");
    EXPECT_FALSE(all.tls_verify);
    EXPECT_EQ(all.on_cluster_build->pull_secret, "pull.one");
    ASSERT_EQ(all.machine_sets.size(), 2U);
    EXPECT_EQ(all.machine_sets[0].replicas, 0U);
    EXPECT_EQ(all.machine_sets[0].location.line, 17U);
    EXPECT_EQ(all.machine_sets[1].accelerators, 4U);
    EXPECT_EQ(all.machine_sets[1].replicas, 1U);
}

TEST_F(OpenshiftTableTest, TheImageIsNamedWithoutWhatTheBuildAdds) {
    const auto image = [&](const std::string& name) {
        return mistakes("[openshift]\npool = \"gpu\"\nimage = \"" + name + "\"\n");
    };
    EXPECT_THAT(image("q.example/n:latest"), AllOf(HasSubstr(":11:"), HasSubstr("has a tag")));
    EXPECT_THAT(image("q.example/n@sha256:" + std::string(64, 'a')), HasSubstr("has a digest"));
    for (const char* name :
         {"node", "edge/node", "q.example/", "Q.example/Node", "q.example/a b"}) {
        EXPECT_THAT(image(name), HasSubstr("is not the name of an image in a registry")) << name;
    }
    EXPECT_THAT(mistakes("[openshift]\n"),
                AllOf(HasSubstr("openshift.pool"), HasSubstr("openshift.image")));
}

// What is pasted in the place of a name may be what the name stands for.
TEST_F(OpenshiftTableTest, SecretsAreNamedAndNeverRepeated) {
    const std::string told = mistakes_after_least(R"([openshift.on_cluster_build]
push_to = "q.example/r:1"
push_secret = '{"auths": {"q.example": {"auth": "dXNlcjpodW50ZXIy"}}}'
pull_secret = "dXNlcjpodW50ZXIy"
)");
    EXPECT_THAT(told, AllOf(HasSubstr("\"openshift.on_cluster_build.push_secret\" is not the name"),
                            HasSubstr("pull_secret\" is not"), Not(HasSubstr("dXNlcjpodW50ZXIy"))));
    EXPECT_THAT(mistakes_after_least("[openshift.on_cluster_build]\npush_to = \"q.example/r\"\n"
                                     "push_secret = \"p\"\n"),
                HasSubstr("is not the name of an image with registry and tag"));
}

// What the API of MachineOSConfig takes, as its own rules have it.
TEST_F(OpenshiftTableTest, PushesWhereTheClusterTakesIt) {
    const auto pushing = [&](const std::string& name) {
        return mistakes_after_least(
            "[openshift.on_cluster_build]\npush_secret = \"p\"\npush_to = \"" + name + "\"\n");
    };
    const std::string host = "q.example/";
    for (const std::string& name :
         {host + "r:1", host + "edge/ocp_4-18/gpu.node:4.18_1", std::string("q.example:5000/r:1"),
          std::string("image-registry.openshift-image-registry.svc:5000/ns/node:1"),
          host + std::string(61, 'x') + "/r:1"}) {
        EXPECT_THAT(pushing(name), Not(HasSubstr("push_to"))) << name;
        EXPECT_THAT(pushing(name), Not(HasSubstr("with registry and tag"))) << name;
    }
    for (const std::string& name :
         {host + "r", std::string("registry:5000/r:1"), std::string("localhost/r:1"),
          host + "a.b/r:1", host + std::string(62, 'x') + "/r:1", host + "r:1@sha256:0",
          std::string("q.example:5/r:1")}) {
        EXPECT_THAT(pushing(name), HasSubstr("is not the name of an image with registry and tag"))
            << name;
    }
}

TEST_F(OpenshiftTableTest, OperatorsAreThoseOfTheCatalogues) {
    EXPECT_FALSE(openshift("").operators.has_value());
    const OperatorsRequest plain = openshift("[openshift.operators]\n").operators.value();
    EXPECT_FALSE(plain.has("nfd") || plain.has("gpu-operator") || plain.manual_approval);
    EXPECT_EQ(plain.gpu_channel + plain.nfd_channel + plain.mig_strategy, "");
    EXPECT_EQ(plain.gpu_source, "certified-operators");
    EXPECT_EQ(plain.nfd_source, "redhat-operators");
    const OperatorsRequest chosen = openshift(R"([openshift.operators]
installed = ["nfd", "nfd"]
gpu_channel = "v25.10"
gpu_source = "cs-certified-operators"
manual_approval = true
)")
                                        .operators.value();
    EXPECT_EQ(chosen.installed, std::vector<std::string>{"nfd"});
    EXPECT_EQ(chosen.gpu_channel, "v25.10");
    EXPECT_EQ(chosen.gpu_source, "cs-certified-operators");
    EXPECT_TRUE(chosen.manual_approval);
}

TEST_F(OpenshiftTableTest, RefusesOperatorsThatAreNotWritten) {
    const auto operators = [&](const std::string& text) {
        return mistakes_after_least("[openshift.operators]\n" + text);
    };
    EXPECT_THAT(operators("installed = [\"dcgm\"]\n"),
                HasSubstr("no operator \"dcgm\" is written here"));
    EXPECT_THAT(operators("installed = [\"nfd\"]\nnfd_channel = \"stable\"\n"),
                HasSubstr("nfd_channel of an operator that is not installed"));
    EXPECT_THAT(operators("installed = [\"gpu-operator\"]\ngpu_source = \"mine\"\n"),
                HasSubstr("gpu_source of an operator that is not installed"));
    EXPECT_THAT(operators("gpu_channel = \"Not A Channel\"\n"),
                HasSubstr("\"openshift.operators.gpu_channel\" is not the name"));
    EXPECT_THAT(operators("gpu_source = \"\"\n"), HasSubstr("gpu_source"));
    EXPECT_THAT(operators("channel = \"stable\"\n"), HasSubstr("channel"));
}

TEST_F(OpenshiftTableTest, TheStrategyOfDividedGpusIsThatOfTheImage) {
    const auto strategy = [&](const std::string& nvidia) {
        return openshift("[openshift.operators]\n[nvidia]\ndriver = \"570\"\n" + nvidia)
            .operators->mig_strategy;
    };
    EXPECT_EQ(strategy(""), "");
    EXPECT_EQ(strategy("[nvidia.mig]\nall = [\"1g.10gb\", \"1g.10gb\"]\n"), "mixed");
    EXPECT_EQ(strategy("[nvidia.mig]\nstrategy = \"single\"\nall = [\"1g.10gb\"]\n"), "single");
}

TEST_F(OpenshiftTableTest, SaysThatThePoolGetsNoUpgrades) {
    EXPECT_THAT(parse(std::string(before_openshift) + std::string(least)).notes,
                ::testing::Contains(HasSubstr("pool \"gpu\" gets no operating system")));
}

TEST_F(OpenshiftTableTest, RefusesMachineSetsThatCannotBe) {
    const auto set = [](const std::string& more) {
        return "[[openshift.machine_sets]]\nsource = \"/a\"\nname = \"a\"\n" + more;
    };
    EXPECT_THAT(mistakes_after_least(set("") + set("")),
                HasSubstr("two machine sets have the name \"a\""));
    EXPECT_THAT(mistakes_after_least(set("replicas = -1\n")), HasSubstr("replicas"));
    EXPECT_THAT(mistakes_after_least(set("accelerators = 2\n")),
                HasSubstr("accelerators without accelerator"));
    EXPECT_THAT(mistakes_after_least(set("instance_type = \"" + std::string(300, 'x') + "\"\n")),
                HasSubstr("more than 253 bytes"));
    constexpr const char* long_name = "64 characters: labels of nodes and machines have 63 at most";
    const std::string longest(63, 'n');
    const auto named = [](const std::string& name) {
        return "[[openshift.machine_sets]]\nsource = \"/a\"\nname = \"" + name + "\"\n";
    };
    EXPECT_THAT(mistakes_after_least(named(longest)), Not(HasSubstr("characters")));
    EXPECT_THAT(mistakes_after_least(named(longest + "n")), HasSubstr(long_name));
    EXPECT_THAT(mistakes("[openshift]\npool = \"" + longest + "n\"\nimage = \"q.example/n\"\n"),
                HasSubstr(long_name));
    EXPECT_THAT(mistakes("[openshift]\npool = \"master\"\nimage = \"q.example/n\"\n" + set("")),
                HasSubstr("machines of the pool \"master\" are of no set"));
}

}  // namespace
}  // namespace edgegpu
