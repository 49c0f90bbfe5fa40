#include "blueprint/sources/policy_package.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include <sepol/debug.h>
#include <sepol/handle.h>
#include <sepol/module.h>
#include <sepol/policydb.h>
#include <sepol/policydb/policydb.h>

#include "support/error.hpp"
#include "support/files/decompress.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

using SepolHandle = Handle<sepol_handle_t, sepol_handle_destroy>;
using PolicyFile = Handle<sepol_policy_file_t, sepol_policy_file_free>;
using ModulePackage = Handle<sepol_module_package_t, sepol_module_package_free>;

struct Free {
    void operator()(char* text) const noexcept { std::free(text); }
};
using Text = std::unique_ptr<char, Free>;

/// Magic number of a module package (libsepol's module.c), little endian.
constexpr std::uint32_t package_magic = 0xf97cff8f;
/// Magic number of the section with file contexts; the text follows.
constexpr std::uint32_t contexts_magic = 0xf97cff90;
constexpr std::size_t head_size = 12;
constexpr std::size_t most_sections = 16;

Error refusal(const std::string& shown, std::string_view what) {
    return error(ErrorKind::usage, "{}: {}", shown, what);
}

/// A little-endian 32-bit word; bytes beyond the end count as 0.
std::uint32_t word_at(std::string_view content, std::size_t offset) {
    const auto byte = [&](std::size_t i) -> std::uint32_t {
        return offset + i < content.size() ? static_cast<unsigned char>(content[offset + i]) : 0;
    };
    return byte(0) | byte(1) << 8U | byte(2) << 16U | byte(3) << 24U;
}

/// Splits a package into its sections. It begins with magic number, version, number of sections,
/// and their offsets.
std::vector<std::string_view> read_sections(std::string_view content, const std::string& shown) {
    if (content.size() < head_size || word_at(content, 0) != package_magic) {
        throw refusal(shown, "not a compiled policy module")
            .hinted(
                "a .pp begins with libsepol's magic number; semodule_package creates such files");
    }
    const std::size_t count = word_at(content, 8);
    bool whole = count > 0 && count <= most_sections && content.size() >= head_size + count * 4;
    std::vector<std::string_view> sections;
    for (std::size_t i = 0; whole && i < count; ++i) {
        const std::size_t begin = word_at(content, head_size + i * 4);
        const std::size_t end =
            i + 1 < count ? word_at(content, head_size + i * 4 + 4) : content.size();
        whole = begin + 4 < end && end <= content.size();
        sections.push_back(whole ? content.substr(begin, end - begin) : std::string_view());
    }
    if (!whole) {
        throw refusal(shown, "the policy module is truncated or corrupt");
    }
    return sections;
}

/// Format version of the policy in a section, which follows the magic number, a length-prefixed
/// text, and the type of policy.
std::uint32_t format_version(std::string_view section) {
    return word_at(section, 12 + std::size_t{word_at(section, 4)});
}

PolicyFile open_package(std::string& content, sepol_handle_t* handle) {
    sepol_policy_file_t* raw = nullptr;
    if (sepol_policy_file_create(&raw) < 0) {
        throw errno_error("sepol_policy_file_create", ENOMEM);
    }
    PolicyFile file(raw);
    sepol_policy_file_set_mem(file.get(), content.data(), content.size());
    sepol_policy_file_set_handle(file.get(), handle);
    return file;
}

/// Whether libsepol can read the whole package.
bool is_readable(std::string& content, sepol_handle_t* handle) {
    sepol_module_package_t* raw = nullptr;
    if (sepol_module_package_create(&raw) < 0) {
        throw errno_error("sepol_module_package_create", ENOMEM);
    }
    const ModulePackage package(raw);
    return sepol_module_package_read(package.get(), open_package(content, handle).get(), 0) >= 0;
}

}  // namespace

PolicyPackage read_policy_package(std::string content, const std::string& shown) {
    if (content.starts_with("BZh")) {
        content = decompress(content, package_limit, shown, ErrorKind::usage);
    }
    const std::vector<std::string_view> sections = read_sections(content, shown);
    const SepolHandle handle(sepol_handle_create());
    if (!handle) {
        throw errno_error("sepol_handle_create", ENOMEM);
    }
    sepol_msg_set_callback(handle.get(), nullptr, nullptr);
    int type = 0;
    char* raw_name = nullptr;
    char* raw_version = nullptr;
    const int known = sepol_module_package_info(open_package(content, handle.get()).get(), &type,
                                                &raw_name, &raw_version);
    const Text name(raw_name);
    const Text version(raw_version);
    // A format newer than the build machine's libsepol supports is left for the image's libsepol to
    // check.
    if (known < 0 || (format_version(sections.front()) <= MOD_POLICYDB_VERSION_MAX &&
                      !is_readable(content, handle.get()))) {
        throw refusal(shown, "the policy module is truncated or corrupt");
    }
    if (type != SEPOL_POLICY_MOD || !name) {
        throw refusal(shown, "a base policy, not a module");
    }
    PolicyPackage result;
    result.name = name.get();
    result.version = version ? version.get() : "";
    for (const std::string_view section : sections) {
        if (word_at(section, 0) == contexts_magic) {
            const std::string_view text = section.substr(4);
            result.contexts = text.substr(0, text.find('\0'));
        }
    }
    return result;
}

}  // namespace edgegpu
