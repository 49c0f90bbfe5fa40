#include "customise/files/packaged_secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* packaged_login =
    R"({"auths": {"quay.io": {"auth": "am9lOktxNy1jYW5hcnktWnczCg=="}}})";
constexpr const char* packaged_jwt =
    "eyJhbGciOiJSUzI1NiJ9.eyJqdGkiOiI4ZWM5YyJ9.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";

class PackagedSecrets : public TreeTest {
protected:
    std::string refusal(const PlacedPaths& placed = {}) {
        try {
            refuse_packaged_secrets(ctx, placed, tree);
        } catch (const Error& error) {
            return error.render();
        }
        return "no error";
    }
};

TEST_F(PackagedSecrets, LoginsAndTokensArePrivate) {
    EXPECT_EQ(refusal(), "no error");
    for (const auto& [path, content] :
         {std::pair<std::string, std::string>{"/etc/containers/auth.json", packaged_login},
          {"/etc/ostree/auth.json", packaged_login},
          {"/usr/lib/ostree/auth.json", packaged_login},
          {"/root/.docker/config.json", packaged_login},
          {"/root/.config/containers/auth.json", packaged_login},
          {"/etc/crio/openshift-pull-secret", packaged_login},
          {"/var/lib/kubelet/config.json", packaged_login},
          {"/opt/site/.dockerconfigjson", packaged_login},
          {"/usr/share/site/token.tok", packaged_jwt},
          {"/etc/nvidia/ClientConfigToken/client_configuration_token_1.tok", "x"},
          {"/usr/share/site/client_configuration_token_1.tok", "x"}}) {
        file(path, content);
        EXPECT_THAT(refusal(),
                    AllOf(HasSubstr(path + " has a"), HasSubstr("edgegpu image --inject"),
                          Not(HasSubstr("am9l")), Not(HasSubstr("eyJ"))))
            << path;
        EXPECT_EQ(refusal({{path, {}}}), "no error") << "the blueprint's own: " << path;
        remove_entry(tree, path);
    }
}

TEST_F(PackagedSecrets, ExamplesAndEmptyFilesAreNone) {
    file("/etc/containers/auth.json", "{\"auths\": {}}");
    file("/usr/share/doc/podman/auth.json", packaged_login);
    file("/usr/share/grammar/python.tok", "grammar");
    file("/etc/nvidia/ClientConfigToken/client_configuration_token_1.tok", "");
    EXPECT_EQ(refusal(), "no error");
}

}  // namespace
}  // namespace edgegpu::test
