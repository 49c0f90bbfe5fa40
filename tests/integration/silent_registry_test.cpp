// skopeo with a real registry that falls silent: limits end the wait, and so does the user.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oci/skopeo.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/odd_registry.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// More than the layers of the registry's images have.
constexpr std::uint64_t layer_bytes = 2U << 20U;

class SilentRegistry : public testing::Test {
protected:
    SilentRegistry() {
        // Nobody's own policy or mirrors.
        fs::create_directories(home_.path() / ".config/containers");
        write_file(home_.path() / ".config/containers/policy.json",
                   R"({"default": [{"type": "insecureAcceptAnything"}]})");
        ::setenv("HOME", home_.path().c_str(), 1);
        ::unsetenv("REGISTRY_AUTH_FILE");
        ctx_.registry_timeout = std::chrono::seconds(3);
        ctx_.layer_timeout = std::chrono::seconds(3);
    }

    [[nodiscard]] ImageAccess image(const std::string& repository) const {
        return {
            {ImageTransport::docker, registry_.name() + '/' + repository + ":1"}, false, "amd64"};
    }

    /// The error that `act` ends with.
    static Error error_of(const std::function<void()>& act) {
        try {
            act();
        } catch (const Error& problem) {
            return problem;
        }
        return Error("no error");
    }

    test::OddRegistry registry_;
    test::TemporaryDirectory home_;
    test::TemporaryDirectory work_;
    Context ctx_;
};

TEST_F(SilentRegistry, ThatNeverAnswersIsGivenUp) {
    const Error problem =
        error_of([&] { static_cast<void>(read_image_manifest(ctx_, image("silent"))); });
    EXPECT_EQ(problem.kind(), ErrorKind::fetch) << problem.message();
    EXPECT_THAT(problem.message(), HasSubstr("cannot look up image " + registry_.name() +
                                             "/silent:1: no answer for 3 seconds"));
    EXPECT_THAT(problem.hint(), HasSubstr("reachable"));
    EXPECT_GE(registry_.count("/v2/silent/manifests/1"), 1) << registry_.log();
}

TEST_F(SilentRegistry, ThatStopsInALayerIsGivenUp) {
    const fs::path blobs = work_.path() / "blobs";
    fs::create_directories(blobs / "sha256");
    const Error problem =
        error_of([&] { copy_image_layers(ctx_, image("stalls"), layer_bytes, blobs); });
    EXPECT_EQ(problem.kind(), ErrorKind::fetch) << problem.message();
    EXPECT_THAT(problem.message(), HasSubstr("cannot copy image " + registry_.name() +
                                             "/stalls:1: nothing has arrived for 3 seconds"));
    EXPECT_THAT(problem.hint(), HasSubstr("Layers that have arrived are kept"));
    EXPECT_FALSE(fs::exists(fs::path(blobs).concat(".layout"))) << "the half layer stays";
    EXPECT_FALSE(fs::is_empty(blobs / "sha256")) << "what has arrived is lost";
}

TEST_F(SilentRegistry, ALayerThatArrivesIsNoSilence) {
    const fs::path blobs = work_.path() / "blobs";
    fs::create_directories(blobs / "sha256");
    ctx_.layer_timeout = std::chrono::seconds(60);
    copy_image_layers(ctx_, image("good"), layer_bytes, blobs);
    EXPECT_GE(std::distance(fs::directory_iterator(blobs / "sha256"), fs::directory_iterator()), 2);
}

TEST_F(SilentRegistry, ALayerWithoutEndIsGivenUp) {
    const fs::path blobs = work_.path() / "blobs";
    fs::create_directories(blobs / "sha256");
    const Error problem =
        error_of([&] { copy_image_layers(ctx_, image("endless"), layer_bytes, blobs); });
    EXPECT_EQ(problem.kind(), ErrorKind::fetch) << problem.message();
    EXPECT_THAT(problem.message(),
                HasSubstr("cannot copy image " + registry_.name() +
                          "/endless:1: more bytes have arrived than its manifest declares"));
    EXPECT_EQ(registry_.count("/v2/endless/manifests/1"), 1) << "copied again";
}

TEST_F(SilentRegistry, TheUserCanInterruptACopy) {
    const fs::path blobs = work_.path() / "blobs";
    fs::create_directories(blobs / "sha256");
    std::atomic<bool> cancelled = false;
    ctx_.cancelled = &cancelled;
    ctx_.layer_timeout = std::chrono::seconds(0);
    std::thread user([&] {
        while (registry_.count("/v2/stalls/blobs/") < 2) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        cancelled = true;
    });
    const Error problem =
        error_of([&] { copy_image_layers(ctx_, image("stalls"), layer_bytes, blobs); });
    user.join();
    EXPECT_EQ(problem.kind(), ErrorKind::interrupted) << problem.message();
    EXPECT_FALSE(fs::exists(fs::path(blobs).concat(".layout")));
}

}  // namespace
}  // namespace edgegpu
