#include "bundles/renderer.hpp"

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

TEST(VersionIn, WhatTheProgramsPrint) {
    const auto kustomize = [](const char* text) {
        return version_in(RendererKind::kustomize, text);
    };
    EXPECT_EQ(kustomize("v5.0.3\n"), "5.0.3");
    EXPECT_EQ(kustomize("5.4.2\n"), "5.4.2");
    EXPECT_EQ(kustomize("{Version:kustomize/v4.5.7 GitCommit:56d82a8 BuildDate:2022 GoOs:linux}\n"),
              "4.5.7");
    EXPECT_EQ(kustomize("Version: {Version:3.5.4 GitCommit:3af514f GoOs:linux}\n"), "")
        << "the first key counts, and this one is none of ours";
    EXPECT_EQ(kustomize("{Version:unknown GitCommit:$Format:%H$}\n"), "");
    EXPECT_EQ(kustomize("(devel)\n"), "");
    EXPECT_EQ(kustomize("v99999999999999999999.0.0\n"), "");
    EXPECT_EQ(kustomize(""), "");
    EXPECT_EQ(version_in(RendererKind::kubectl,
                         "{\n  \"clientVersion\": {\n    \"major\": \"1\",\n    \"gitVersion\": "
                         "\"v1.32.4-dispatcher\"\n  },\n  \"kustomizeVersion\": \"v5.5.0\"\n}\n"),
              "1.32.4-dispatcher");
    EXPECT_EQ(version_in(RendererKind::oc,
                         "{\n  \"releaseClientVersion\": \"4.18.3\",\n  \"clientVersion\": "
                         "{\"gitVersion\": \"v1.31.1\"}\n}\n"),
              "4.18.3");
}

class RendererTest : public OwnPath {
protected:
    /// The error of find_renderer, with its traces.
    static std::string failure(const Context& ctx = {}) {
        try {
            return find_renderer(ctx).title();
        } catch (const Error& problem) {
            return fmt::format("{}", fmt::join(problem.traces(), "; "));
        }
    }
};

TEST_F(RendererTest, TheRealOne) {
    link_real_kustomize();
    const Renderer renderer = find_renderer(Context{});
    EXPECT_EQ(renderer.kind, RendererKind::kustomize);
    EXPECT_THAT(renderer.title(), testing::StartsWith("kustomize "));
    EXPECT_EQ(renderer.file, directory() / "kustomize");
}

TEST_F(RendererTest, NoneAtAll) {
    try {
        (void)find_renderer(Context{});
        ADD_FAILURE() << "found one";
    } catch (const Error& problem) {
        EXPECT_THAT(problem.message(), HasSubstr("bundles need kustomize 5 or newer"));
        EXPECT_THAT(problem.hint(), HasSubstr("scripts/setup installs kustomize"));
        EXPECT_EQ(failure(), "kustomize: not installed; kubectl: not installed; oc: not installed");
    }
}

TEST_F(RendererTest, TheNextBestProgram) {
    program("kustomize", "echo '{Version:kustomize/v4.5.7 GitCommit:56d82a8}'");
    program("kubectl", "echo '{\"clientVersion\": {\"gitVersion\": \"v1.26.9\"}}'");
    EXPECT_EQ(failure(),
              "kustomize: 4.5.7 is too old; kubectl: 1.26.9 is too old; oc: not installed");
    program("oc", R"(echo '{"releaseClientVersion": "4.14.0-202311"}')");
    EXPECT_EQ(failure(), "oc 4.14.0-202311");
    program("kubectl", "echo '{\"clientVersion\": {\"gitVersion\": \"v1.27.0\"}}'");
    EXPECT_EQ(failure(), "kubectl 1.27.0");
    program("kustomize", "echo v10.0.0");
    EXPECT_EQ(failure(), "kustomize 10.0.0");
}

TEST_F(RendererTest, GarbageAndSilence) {
    program("kustomize", "printf 'v5\\n\\033[31mwhat?\\n'; exit 3");
    EXPECT_THAT(failure(), testing::StartsWith("kustomize: does not say its version but "));
    program("kustomize", "head -c 3000000 /dev/urandom");
    EXPECT_THAT(failure(), testing::StartsWith("kustomize: does not say its version"));
    program("kustomize", "exit 0");
    EXPECT_THAT(failure(), testing::StartsWith("kustomize: does not say its version but \"\""));
    program("kustomize", "echo '(devel)'");
    EXPECT_THAT(failure(), testing::StartsWith("kustomize: does not say its version but"))
        << "a script has no build information";
    Context ctx;
    ctx.program_timeout = std::chrono::seconds(1);
    program("kustomize", "sleep 1000");
    EXPECT_THAT(failure(ctx),
                testing::StartsWith("kustomize: does not say its version within 1 s"));
    program("kustomize", "sleep 1000 & sleep 1000 & trap '' TERM INT; wait; sleep 1000");
    EXPECT_THAT(failure(ctx),
                testing::StartsWith("kustomize: does not say its version within 1 s"));
}

TEST_F(RendererTest, SeesNothingOfTheUser) {
    program("kustomize", "cat \"$0\" /etc/passwd; ls /root /home; env; echo v5.0.3");
    write_file(directory() / "secret", "canary");
    EXPECT_THAT(failure(), testing::StartsWith("kustomize: does not say its version"));
}

}  // namespace
}  // namespace edgegpu::test
