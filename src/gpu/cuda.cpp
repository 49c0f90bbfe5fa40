#include "gpu/cuda.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace edgegpu {

namespace {

bool is_digit_of_version(char c) {
    return c >= '0' && c <= '9';
}

/// Removes a number of at most four digits from the beginning of `text`.
std::optional<unsigned> take_part(std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit_of_version);
    const auto digits = static_cast<std::size_t>(end - text.begin());
    unsigned value = 0;
    if (digits == 0 || digits > 4) {
        return std::nullopt;
    }
    std::from_chars(text.data(), text.data() + digits, value);
    text.remove_prefix(digits);
    return value;
}

/// A version at the beginning of `text` ("12.2.2-devel"); nothing else may be joined to it.
std::optional<CudaVersion> version_at(std::string_view text) {
    const std::optional<unsigned> major = take_part(text);
    if (!major) {
        return std::nullopt;
    }
    CudaVersion version{*major, {}};
    while (text.size() > 1 && text[0] == '.' && is_digit_of_version(text[1])) {
        text.remove_prefix(1);
        const std::optional<unsigned> number = take_part(text);
        version.minor = version.minor ? version.minor : number;
    }
    const bool ends = text.empty() || text[0] == '-' || text[0] == '_' || text[0] == '.';
    // Versions before 8 are older than any driver in use, later ones than 29 are no versions yet.
    return ends && version.major >= 8 && version.major < 30 ? std::optional(version) : std::nullopt;
}

/// "cuda12.5.0", "cuda-12.5", "cuda12"
std::optional<CudaVersion> after_cuda(std::string_view text) {
    text.remove_prefix(4);
    if (text.starts_with('-') || text.starts_with('_')) {
        text.remove_prefix(1);
    }
    return version_at(text);
}

/// "cu118" is 11.8, as in the names of PyTorch's packages.
std::optional<CudaVersion> after_cu(std::string_view text) {
    text.remove_prefix(2);
    const auto end = std::ranges::find_if_not(text, is_digit_of_version);
    const auto digits = static_cast<std::size_t>(end - text.begin());
    const bool ends = digits == text.size() || text[digits] == '-' || text[digits] == '_';
    if (digits != 3 || !ends) {
        return std::nullopt;
    }
    const auto digit = [&](std::size_t at) { return static_cast<unsigned>(text[at] - '0'); };
    const CudaVersion version{digit(0) * 10 + digit(1), digit(2)};
    return version.major >= 9 && version.major < 30 ? std::optional(version) : std::nullopt;
}

/// The versions that a tag names.
std::vector<CudaVersion> versions_in(std::string_view tag) {
    std::vector<CudaVersion> versions;
    for (std::size_t at = 0; at < tag.size(); ++at) {
        const char before = at == 0 ? '-' : tag[at - 1];
        if (before != '-' && before != '_' && before != '.') {
            continue;
        }
        const std::string_view rest = tag.substr(at);
        const std::optional<CudaVersion> found = rest.starts_with("cuda") ? after_cuda(rest)
                                                 : rest.starts_with("cu") ? after_cu(rest)
                                                                          : std::nullopt;
        if (found) {
            versions.push_back(*found);
        }
    }
    return versions;
}

/// The major version of CUDA in NVIDIA's image of a framework: its tag begins with the month
/// ("25.02"). Nothing for the months around a change.
std::optional<CudaVersion> of_month(std::string_view tag) {
    const std::optional<unsigned> year = take_part(tag);
    if (!year || *year < 20 || *year > 40 || !tag.starts_with('.')) {
        return std::nullopt;
    }
    tag.remove_prefix(1);
    const std::optional<unsigned> month = take_part(tag);
    if (!month || *month < 1 || *month > 12 || (!tag.empty() && tag[0] != '-')) {
        return std::nullopt;
    }
    const unsigned when = *year * 100 + *month;
    if (when >= 2009 && when <= 2212) {
        return CudaVersion{11, {}};
    }
    if (when >= 2302 && when <= 2506) {
        return CudaVersion{12, {}};
    }
    // What CUDA 14 will be in is not known.
    return when >= 2510 && when <= 2606 ? std::optional(CudaVersion{13, {}}) : std::nullopt;
}

}  // namespace

std::string CudaVersion::text() const {
    return minor ? fmt::format("{}.{}", major, *minor) : std::to_string(major);
}

std::optional<CudaVersion> cuda_of_image(std::string_view image) {
    image = image.substr(0, image.find('@'));
    const std::size_t colon = image.rfind(':');
    if (colon == std::string_view::npos || image.find('/', colon) != std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view repository = image.substr(0, colon);
    const std::string_view tag = image.substr(colon + 1);
    if (repository == "nvidia/cuda" || repository.ends_with("/nvidia/cuda")) {
        return version_at(tag);
    }
    const std::vector<CudaVersion> versions = versions_in(tag);
    if (!versions.empty()) {
        const bool same = std::ranges::all_of(
            versions, [&](const auto& each) { return each.major == versions[0].major; });
        return same ? std::optional(versions[0]) : std::nullopt;
    }
    for (const std::string_view framework : {"pytorch", "tensorflow", "tritonserver", "tensorrt"}) {
        if (repository == fmt::format("nvcr.io/nvidia/{}", framework)) {
            return of_month(tag);
        }
    }
    return std::nullopt;
}

unsigned first_branch_for(const CudaVersion& cuda) {
    switch (cuda.major) {
        case 11:
            return 450;
        case 12:
            return 525;
        case 13:
            return 580;
        default:
            // Older ones run on every branch in use, newer ones are not known.
            return 0;
    }
}

bool may_have_forward_compatibility(const Gpu& gpu) {
    constexpr auto others = std::to_array<std::string_view>({"GeForce", "TITAN", "NVS", " MX"});
    return std::ranges::none_of(others, [&](std::string_view series) {
        return gpu.name.find(series) != std::string::npos;
    });
}

}  // namespace edgegpu
