#include "oci/reference.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

const std::string digest = "sha256:" + std::string(64, 'a');

TEST(ImageReference, CompletesNamesAsTheEnginesDo) {
    for (const auto& [name, complete] :
         {std::pair{"busybox", "docker.io/library/busybox:latest"},
          {"nvidia/cuda:12.4", "docker.io/nvidia/cuda:12.4"},
          {"index.docker.io/busybox", "docker.io/library/busybox:latest"},
          {"quay.io/x/app", "quay.io/x/app:latest"},
          {"localhost/app:v1.2_3-x", "localhost/app:v1.2_3-x"},
          {"localhost:5000/app", "localhost:5000/app:latest"},
          {"[::1]:5000/app:1", "[::1]:5000/app:1"},
          {"quay.io/a--b/c__d.e_f:1", "quay.io/a--b/c__d.e_f:1"}}) {
        EXPECT_EQ(complete_image_name(name), complete) << name;
    }
}

TEST(ImageReference, ADigestReplacesTheTagOnlyWherePulled) {
    EXPECT_EQ(complete_image_name("quay.io/a@" + digest), "quay.io/a@" + digest);
    EXPECT_EQ(complete_image_name("quay.io/a:1@" + digest), "quay.io/a:1");
    EXPECT_EQ(complete_image_name("quay.io/a:1@" + digest, true), "quay.io/a@" + digest);
}

TEST(ImageReference, RefusesWhatIsNoName) {
    for (const std::string& name :
         {std::string(), std::string("Quay/App"), std::string("quay.io/App"),
          std::string("quay.io/"), std::string("quay.io//a"), std::string("quay.io/a:"),
          std::string("quay.io/a b"), std::string("-o"), std::string("--help"),
          std::string("quay.io/a@sha256:12"), std::string("quay.io/a@md5:" + std::string(64, 'a')),
          std::string("quay.io/../a"), std::string("quay.io/a:-x"), std::string("quay.io:port/a"),
          "quay.io/" + std::string(300, 'a'), "quay.io/a:" + std::string(129, 'a'),
          std::string("quay.io/a_-b"), std::string("a\nb")}) {
        EXPECT_EQ(complete_image_name(name), std::nullopt) << name;
    }
}

TEST(ImageReference, PlacesHaveATransport) {
    EXPECT_EQ(image_place("quay.io/a:1")->text(), "docker://quay.io/a:1");
    EXPECT_EQ(image_place("docker://quay.io/a:1")->text(), "docker://quay.io/a:1");
    EXPECT_EQ(image_place("oci:images/app:1")->transport, ImageTransport::oci);
    EXPECT_EQ(image_place("docker-archive:app.tar")->rest, "app.tar");
    for (const char* other : {"containers-storage:x", "docker-daemon:x:1", "https://quay.io/a"}) {
        EXPECT_FALSE(image_place(other)) << other;
    }
}

TEST(ImageReference, OnlyRegistriesArePinned) {
    const std::string hex(64, 'b');
    EXPECT_EQ(image_place("localhost:5000/a:1")->pinned(hex).text(),
              "docker://localhost:5000/a@sha256:" + hex);
    EXPECT_EQ(image_place("localhost:5000/a@" + digest)->pinned(hex).digest(), hex);
    EXPECT_EQ(image_place("oci:images/a:1")->pinned(hex).text(), "oci:images/a:1");
    EXPECT_EQ(image_place("localhost:5000/a:1")->digest(), "");
}

}  // namespace
}  // namespace edgegpu
