#include "image_file/disk_format.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// The footer of a VHD ("Virtual Hard Disk Image Format Specification"): numbers are big-endian.
constexpr std::size_t vhd_footer_size = 512;
constexpr std::size_t vhd_time_at = 24;
constexpr std::size_t vhd_checksum_at = 64;
constexpr std::size_t vhd_uuid_at = 68;
constexpr std::size_t vhd_uuid_size = 16;
/// 2000-01-01, where its time begins
constexpr std::int64_t vhd_epoch = 946684800;
/// Where qemu-img puts a VMDK's descriptor: in the sectors 1 to 20.
constexpr std::int64_t vmdk_descriptor_at = 512;
constexpr std::size_t vmdk_descriptor_size = std::size_t{20} * 512;
constexpr std::string_view vmdk_id_key = "\nCID=";
constexpr std::size_t vmdk_id_digits = 8;

/// Runs a program that writes `output`; a full disk has its own message.
void run_writer(const Context& ctx, std::vector<std::string> argv, const fs::path& output) {
    const ProcessResult result = run_process(ctx, argv);
    if (result.status == 0) {
        return;
    }
    if (result.output.find("No space left on device") != std::string::npos) {
        throw disk_full(output.parent_path().string());
    }
    throw error("{}: {} failed: {}", output.string(), argv.front(),
                fmt::join(last_lines(result.output, 3), "; "));
}

/// A part of a file that is changed in place.
class FilePart {
public:
    /// `offset` counts from the end if it is negative.
    FilePart(const fs::path& path, std::int64_t offset, std::size_t size)
        : path_(path), file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
        struct stat status {};
        if (!file_ || ::fstat(file_.get(), &status) != 0) {
            throw errno_error(path_.string(), errno);
        }
        at_ = offset < 0 ? status.st_size + offset : offset;
        bytes.resize(size);
        const ssize_t count = ::pread(file_.get(), bytes.data(), size, at_);
        if (count < 0) {
            throw errno_error(path_.string(), errno);
        }
        bytes.resize(static_cast<std::size_t>(count));
    }
    void write() const {
        if (::pwrite(file_.get(), bytes.data(), bytes.size(), at_) !=
            static_cast<ssize_t>(bytes.size())) {
            throw errno_error(path_.string(), errno);
        }
    }

    std::string bytes;

private:
    const fs::path& path_;
    Fd file_;
    std::int64_t at_ = 0;
};

void put_big_endian(std::string& bytes, std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[at + i] = static_cast<char>((value >> (24 - 8 * i)) & 0xffU);
    }
}

void fix_vhd(const fs::path& path, std::string_view digest, std::int64_t time) {
    FilePart footer(path, -static_cast<std::int64_t>(vhd_footer_size), vhd_footer_size);
    std::string& bytes = footer.bytes;
    if (bytes.size() != vhd_footer_size || !bytes.starts_with("conectix")) {
        throw error("{}: qemu-img wrote no VHD footer", path.string());
    }
    put_big_endian(
        bytes, vhd_time_at,
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(time - vhd_epoch, 0, UINT32_MAX)));
    for (std::size_t i = 0; i < vhd_uuid_size; ++i) {
        bytes[vhd_uuid_at + i] =
            static_cast<char>(std::stoi(std::string(digest.substr(2 * i, 2)), nullptr, 16));
    }
    put_big_endian(bytes, vhd_checksum_at, 0);
    std::uint32_t sum = 0;
    for (const char byte : bytes) {
        sum += static_cast<unsigned char>(byte);
    }
    put_big_endian(bytes, vhd_checksum_at, ~sum);
    footer.write();
}

void fix_vmdk(const fs::path& path, std::string_view digest) {
    FilePart descriptor(path, vmdk_descriptor_at, vmdk_descriptor_size);
    try {
        descriptor.bytes = vmdk_descriptor(descriptor.bytes, digest.substr(0, vmdk_id_digits));
    } catch (const Error& failure) {
        throw error("{}: {}", path.string(), failure.what());
    }
    descriptor.write();
}

}  // namespace

std::string vmdk_descriptor(std::string_view descriptor, std::string_view id) {
    std::string text(descriptor.substr(0, descriptor.find('\0')));
    const std::size_t key = text.find(vmdk_id_key);
    const std::size_t at = key + vmdk_id_key.size();
    const std::size_t end = key == std::string::npos ? key : text.find('\n', at);
    // qemu-img writes the number without leading zeros.
    if (end == std::string::npos || end == at || end - at > vmdk_id_digits) {
        throw error("qemu-img wrote no content identifier");
    }
    text.replace(at, end - at, id);
    if (text.size() >= descriptor.size()) {
        throw error("qemu-img left no room for a content identifier");
    }
    // Behind the text there may be the end of a longer one, which qemu-img wrote first.
    text.resize(descriptor.size(), '\0');
    return text;
}

void convert_disk(const Context& ctx, const fs::path& raw, const DiskConversion& conversion,
                  const fs::path& output) {
    const ImageType type = conversion.type;
    std::vector<std::string> argv{"qemu-img", "convert", "-f", "raw", "-O"};
    if (type == ImageType::qcow2 && conversion.compressed_clusters) {
        // Named, as other versions of qemu-img may choose a method that older ones cannot read.
        argv.insert(argv.end(), {"qcow2", "-c", "-o", "compat=1.1,compression_type=zlib"});
    } else if (type == ImageType::qcow2) {
        argv.insert(argv.end(), {"qcow2", "-o", "compat=1.1"});
    } else if (type == ImageType::vmdk) {
        argv.insert(argv.end(), {"vmdk", "-o", "subformat=streamOptimized"});
    } else {
        argv.insert(argv.end(), {"vpc", "-o", "subformat=fixed,force_size=on"});
    }
    argv.push_back(raw.string());
    argv.push_back(output.string());
    run_writer(ctx, std::move(argv), output);
    const std::string digest =
        sha256_hex(fmt::format("edgegpu {} {}", enum_name(type), conversion.seed));
    if (type == ImageType::vhd) {
        fix_vhd(output, digest, conversion.time);
    } else if (type == ImageType::vmdk) {
        fix_vmdk(output, digest);
    }
}

void compress_disk(const Context& ctx, const fs::path& input, const fs::path& output) {
    run_writer(
        ctx,
        {"zstd", "-q", "-T0", "-6", "--no-progress", "-o", output.string(), "--", input.string()},
        output);
}

}  // namespace edgegpu
