#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "execution/context.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

/// The forms of a disk image.
enum class ImageType {
    /// the disk's bytes, sparse
    raw,
    /// QEMU's, compat=1.1
    qcow2,
    /// VMware's, streamOptimized
    vmdk,
    /// Hyper-V's and Azure's, of fixed size
    vhd,
    /// raw, checked for what EC2 needs
    ami,
    /// a medium that installs the commit
    installer_iso
};

/// Name in options and documents.
[[nodiscard]] constexpr std::string_view enum_name(ImageType type) {
    return nth_name(type, {"raw", "qcow2", "vmdk", "vhd", "ami", "installer-iso"});
}

/// How a disk image is compressed.
enum class ImageCompression {
    none,
    /// the whole file, by zstd: its name ends with .zst, and it is unpacked before use
    zstd,
    /// each cluster of a qcow2 image by zlib: QEMU of any version starts it as it is
    clusters
};

/// Name in options and documents.
[[nodiscard]] constexpr std::string_view enum_name(ImageCompression compression) {
    return nth_name(compression, {"none", "zstd", "clusters"});
}

/// Whether the form is the disk's bytes.
[[nodiscard]] constexpr bool is_raw(ImageType type) {
    return type == ImageType::raw || type == ImageType::ami;
}

/// What a raw image becomes.
struct DiskConversion {
    /// not a raw one
    ImageType type = ImageType::qcow2;
    /// of qcow2
    bool compressed_clusters = false;
    /// the commit's checksum, which replaces what qemu-img draws at random
    std::string_view seed;
    /// Unix time, instead of the present
    std::int64_t time = 0;
};

/// Converts the raw image `raw` to `output`, a new file, with qemu-img: the same raw image,
/// conversion and file name give the same bytes. Throws Error.
void convert_disk(const Context& ctx, const std::filesystem::path& raw,
                  const DiskConversion& conversion, const std::filesystem::path& output);

/// A VMDK's descriptor, with the NULs that fill its sectors, with the content identifier `id`
/// (eight hexadecimal digits) instead of the one that qemu-img drew: the same size, and the same
/// bytes for every identifier that was there. Throws Error for what is none of qemu-img's.
[[nodiscard]] std::string vmdk_descriptor(std::string_view descriptor, std::string_view id);

/// Compresses `input` to `output`, a new file, with zstd; the bytes do not depend on the number of
/// processors. Throws Error.
void compress_disk(const Context& ctx, const std::filesystem::path& input,
                   const std::filesystem::path& output);

}  // namespace edgegpu
