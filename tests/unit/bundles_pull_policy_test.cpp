#include "bundles/checks/pull_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;

/// What is found in a pod with `spec`, if images of quay.io are embedded.
std::string found_in(const std::string& spec, const std::string& glob = "quay.io/*") {
    RenderedBundle bundle;
    bundle.name = "app";
    bundle.files.name = "app";
    bundle.text =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec: " + spec + '\n';
    bundle.objects = read_objects("app", bundle.text);
    const std::vector<RenderedBundle> bundles{bundle};
    Mistakes mistakes;
    Findings findings(mistakes);
    check_pull_policies(objects_of(bundles), {{glob, {}}}, findings);
    try {
        mistakes.throw_any("b.toml");
    } catch (const Error& problem) {
        return problem.render();
    }
    return "";
}

TEST(PullPolicy, AlwaysOfAnEmbeddedImageIsFound) {
    const std::string container = "[{name: a, image: 'quay.io/x:1', imagePullPolicy: Always}]";
    for (const std::string& spec :
         {"{containers: " + container + "}", "{containers: [], initContainers: " + container + "}",
          "{containers: [], ephemeralContainers: " + container + "}"}) {
        const std::string message = found_in(spec);
        EXPECT_THAT(message, HasSubstr("Pod x/p")) << spec;
        EXPECT_THAT(message, HasSubstr("image quay.io/x:1 is in the commit")) << spec;
        EXPECT_THAT(message, HasSubstr("imagePullPolicy \"Always\"")) << spec;
        EXPECT_THAT(message, HasSubstr("IfNotPresent")) << spec;
    }
    EXPECT_THAT(found_in("{containers: [], volumes: [{name: v, image: {reference: 'quay.io/x:1', "
                         "pullPolicy: Always}}]}"),
                HasSubstr("pullPolicy \"Always\""));
}

TEST(PullPolicy, NothingElseIs) {
    EXPECT_EQ(found_in("{containers: [{name: a, image: 'docker.io/x', imagePullPolicy: Always}]}"),
              "");
    EXPECT_EQ(found_in("{containers: [{name: a, image: 'quay.io/x'}]}"), "");
    EXPECT_EQ(found_in("{containers: [{name: a, image: 'quay.io/x', imagePullPolicy: Never}]}"),
              "");
    EXPECT_EQ(found_in("{containers: [{name: a, imagePullPolicy: Always}], volumes: []}", "*"), "");
    EXPECT_EQ(found_in("{containers: [a, {name: a}], volumes: {a: b}}", "*"), "");
}

}  // namespace
}  // namespace edgegpu
