#include "encapsulate/destination.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using DestinationKind = ImageDestination::Kind;

TEST(ImageDestination, HasATransportOrAPath) {
    struct Case {
        const char* text;
        DestinationKind kind;
        const char* path;
        const char* tag;
    };
    for (const Case& one :
         {Case{"oci:images/edge", DestinationKind::layout, "images/edge", "latest"},
          {"oci:/images/edge:1.2", DestinationKind::layout, "/images/edge", "1.2"},
          {"oci:/images:old/edge", DestinationKind::layout, "/images:old/edge", "latest"},
          {"images/edge/", DestinationKind::layout, "images/edge", "latest"},
          {"./a:b/c", DestinationKind::layout, "./a:b/c", "latest"},
          {"oci-archive:edge.tar:v1", DestinationKind::archive, "edge.tar", "v1"},
          {"edge.ociarchive", DestinationKind::archive, "edge.ociarchive", "latest"},
          {"/x/edge.tar", DestinationKind::archive, "/x/edge.tar", "latest"}}) {
        const ImageDestination parsed = parse_destination(one.text);
        EXPECT_EQ(parsed.kind, one.kind) << one.text;
        EXPECT_EQ(parsed.path, one.path) << one.text;
        EXPECT_EQ(parsed.tag, one.tag) << one.text;
    }
    const ImageDestination pushed = parse_destination("docker://localhost:5000/edge/gpu:1");
    EXPECT_EQ(pushed.kind, DestinationKind::registry);
    EXPECT_EQ(pushed.place.text(), "docker://localhost:5000/edge/gpu:1");
}

TEST(ImageDestination, IsRefusedWithAWayOut) {
    for (const std::string& text : {std::string(""),
                                    std::string("oci:"),
                                    std::string("oci::1"),
                                    std::string("oci:a:b c"),
                                    std::string("oci:a:"),
                                    std::string("oci-archive:"),
                                    std::string("edge.iso"),
                                    std::string("oci-archive:edge.tar.gz"),
                                    std::string("edge.tar.zst:v1"),
                                    std::string("docker://"),
                                    std::string("docker://quay.io/UPPER"),
                                    std::string("dir:x"),
                                    std::string("docker-archive:x"),
                                    std::string("oci:x:y:z"),
                                    std::string("oci-archive:x:y:z"),
                                    std::string("oci:a\nb"),
                                    std::string("x\x7f.tar"),
                                    std::string("containers-storage:x"),
                                    std::string("https://quay.io/x"),
                                    "docker://quay.io/x@sha256:" + std::string(64, 'a')}) {
        try {
            static_cast<void>(parse_destination(text));
            ADD_FAILURE() << text;
        } catch (const Error& caught) {
            EXPECT_EQ(caught.kind(), ErrorKind::usage) << text;
            EXPECT_FALSE(caught.hint().empty()) << text;
        }
    }
}

}  // namespace
}  // namespace edgegpu
