#include "image_file/image_name.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files/output.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

struct Ending {
    std::string_view text;
    /// the forms that it stands for; none: one that is not written
    std::vector<ImageType> types;
};

const std::array<Ending, 15>& known_endings() {
    using enum ImageType;
    static const std::array<Ending, 15> endings{{{".raw", {raw, ami}},
                                                 {".img", {raw, ami, qcow2}},
                                                 {".ami", {ami}},
                                                 {".qcow2", {qcow2}},
                                                 {".vmdk", {vmdk}},
                                                 {".vhd", {vhd}},
                                                 {".vhdx", {}},
                                                 {".vdi", {}},
                                                 {".ova", {}},
                                                 {".iso", {installer_iso}},
                                                 {".tar", {}},
                                                 {".gz", {}},
                                                 {".xz", {}},
                                                 {".bz2", {}},
                                                 {".zip", {}}}};
    return endings;
}

constexpr std::string_view zstd_ending = ".zst";

std::string ending_of(const ImageRequest& request) {
    const std::string form = request.type == ImageType::ami ? ".ami.raw"
                             : request.type == ImageType::installer_iso
                                 ? ".iso"
                                 : fmt::format(".{}", request.type);
    return request.compression == ImageCompression::zstd ? form + std::string(zstd_ending) : form;
}

bool ends_like(std::string_view name, std::string_view ending) {
    return name.size() > ending.size() &&
           begins_with_any_case(name.substr(name.size() - ending.size()), ending);
}

}  // namespace

std::string image_base_name(const std::string& ref, const CommitInfo& commit) {
    constexpr std::size_t digits = 12;
    std::string name = ref.empty() ? commit.checksum.substr(0, digits) : ref;
    if (!commit.version.empty()) {
        name += '-' + commit.version;
    }
    for (char& character : name) {
        const auto byte = static_cast<unsigned char>(character);
        if (character == '/' || character == ':' || byte <= ' ' || byte >= 0x7f) {
            character = '-';
        }
    }
    return name;
}

std::string image_file_name(const ImageRequest& request, const CommitInfo& commit) {
    return image_base_name(request.disk.ref, commit) + ending_of(request);
}

void check_image_name(const ImageRequest& request) {
    const std::string whole = request.output.filename().string();
    std::string_view name = whole;
    check_output_name(request.output);
    const bool named_zstd = ends_like(name, zstd_ending);
    if (named_zstd) {
        name.remove_suffix(zstd_ending.size());
    }
    const auto& endings = known_endings();
    const auto* const ending =
        std::ranges::find_if(endings, [&](const Ending& one) { return ends_like(name, one.text); });
    const bool known = ending != endings.end();
    const bool other =
        known && std::ranges::find(ending->types, request.type) == ending->types.end();
    const bool zstd = request.compression == ImageCompression::zstd;
    const bool compressed_unnamed = zstd && !named_zstd && known;
    if (!other && !compressed_unnamed && (zstd || !named_zstd)) {
        return;
    }
    // "c.raw.gz": all of its endings are replaced.
    const auto stem_of = [&](std::string_view text) {
        for (const Ending* one = ending; one != endings.end();
             one = std::ranges::find_if(
                 endings, [&](const Ending& next) { return ends_like(text, next.text); })) {
            text.remove_suffix(one->text.size());
        }
        return text;
    };
    throw error(ErrorKind::usage, "{}: the image is {}{}, but its name says otherwise",
                request.output.string(), request.type, zstd ? ", compressed with zstd" : "")
        .hinted(fmt::format("--output {}{}, or other values of --type and --compress",
                            stem_of(name), ending_of(request)));
}

}  // namespace edgegpu
