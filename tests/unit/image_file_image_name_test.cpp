#include "image_file/image_name.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string verdict(ImageType type, bool zstd, const std::string& name) {
    ImageRequest request;
    request.type = type;
    request.compression = zstd ? ImageCompression::zstd : ImageCompression::none;
    request.output = "/images/" + name;
    try {
        check_image_name(request);
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::usage);
        EXPECT_TRUE(problem.message().starts_with("/images/" + name + ": ")) << problem.message();
        return problem.hint();
    }
    return "accepted";
}

TEST(ImageName, SaysWhatTheFileIs) {
    using enum ImageType;
    struct Case {
        ImageType type;
        bool zstd;
        const char* name;
    };
    for (const Case& one : {Case{raw, false, "a.raw"},
                            {raw, false, "a.img"},
                            {raw, false, "a"},
                            {raw, false, "a.b.2024"},
                            {raw, true, "a.raw.zst"},
                            {raw, true, "a.img.ZST"},
                            {raw, true, "a.zst"},
                            {raw, true, "edge-1.2"},
                            {qcow2, false, "a.qcow2"},
                            {qcow2, false, "a.QCOW2"},
                            {qcow2, false, "a.img"},
                            {vmdk, false, "a.vmdk"},
                            {vhd, false, "a.vhd"},
                            {vhd, true, "a.vhd.zst"},
                            {ami, false, "a.ami.raw"},
                            {ami, false, "a.raw"},
                            {installer_iso, false, "a.iso"},
                            {installer_iso, true, "a.iso.zst"},
                            {raw, false, ".raw"}}) {
        EXPECT_EQ(verdict(one.type, one.zstd, one.name), "accepted") << one.name;
    }
}

TEST(ImageName, HasNoControlCharacters) {
    for (const char* name : {"a\nb.raw", "a\x7f"}) {
        EXPECT_NE(verdict(ImageType::raw, false, name).find("name the image without"),
                  std::string::npos);
    }
}

TEST(ImageName, OfAnotherFormIsAnErrorWithAWayOut) {
    using enum ImageType;
    struct Case {
        ImageType type;
        bool zstd;
        const char* name;
        const char* better;
    };
    for (const Case& one : {Case{installer_iso, true, "c.iso", "c.iso.zst"},
                            {raw, true, "c.raw", "c.raw.zst"},
                            {raw, true, "c.img", "c.raw.zst"},
                            {raw, false, "c.raw.zst", "c.raw"},
                            {raw, false, "c.zst", "c.raw"},
                            {raw, false, "c.qcow2", "c.raw"},
                            {raw, false, "c.iso", "c.raw"},
                            {qcow2, false, "c.raw", "c.qcow2"},
                            {vhd, false, "c.vhdx", "c.vhd"},
                            {vmdk, false, "c.ova", "c.vmdk"},
                            {installer_iso, false, "c.img", "c.iso"},
                            {qcow2, true, "c.raw.zst", "c.qcow2.zst"},
                            {raw, true, "c.raw.gz", "c.raw.zst"},
                            {raw, true, "c.raw.xz", "c.raw.zst"},
                            {ami, false, "c.vmdk", "c.ami.raw"}}) {
        EXPECT_EQ(
            verdict(one.type, one.zstd, one.name),
            std::string("--output ") + one.better + ", or other values of --type and --compress")
            << one.name;
    }
}

TEST(ImageName, IsMadeOfRefAndVersion) {
    CommitInfo commit;
    commit.checksum = std::string(64, 'a');
    commit.version = "1.0";
    ImageRequest request;
    request.type = ImageType::installer_iso;
    request.compression = ImageCompression::zstd;
    EXPECT_EQ(image_file_name(request, commit), "aaaaaaaaaaaa-1.0.iso.zst");
    request.disk.ref = "edge/9:x\xff/gpu";
    request.type = ImageType::qcow2;
    request.compression = ImageCompression::clusters;
    EXPECT_EQ(image_file_name(request, commit), "edge-9-x--gpu-1.0.qcow2");
    request.type = ImageType::ami;
    request.compression = ImageCompression::none;
    EXPECT_EQ(image_file_name(request, commit), "edge-9-x--gpu-1.0.ami.raw");
    request.output = image_file_name(request, commit);
    EXPECT_NO_THROW(check_image_name(request));
}

}  // namespace
}  // namespace edgegpu
