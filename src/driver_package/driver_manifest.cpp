#include "driver_package/driver_manifest.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t header_lines = 8;
constexpr const char* libraries = "/usr/lib64";

constexpr FileType library(std::string_view name, bool has_path, DriverPart part) {
    return {name, true, has_path, false, false, libraries, part, {}};
}

constexpr FileType library_link(std::string_view name, bool has_path, DriverPart part) {
    return {name, true, has_path, true, false, libraries, part, {}};
}

constexpr FileType file(std::string_view name, bool has_path, std::string_view directory,
                        DriverPart part) {
    return {name, false, has_path, false, false, directory, part, {}};
}

/// What else is in its line does not matter.
constexpr FileType left_out(std::string_view name, std::string_view why) {
    return {name, false, false, false, false, {}, DriverPart::cuda, why};
}

constexpr std::string_view distributions = "the distribution has them (libglvnd, ocl-icd)";

constexpr auto cuda = DriverPart::cuda;
constexpr auto cuda_libs = DriverPart::cuda_libs;
constexpr auto graphics = DriverPart::graphics_libs;

constexpr std::array file_types{
    FileType{"KERNEL_MODULE_SRC",
             false,
             false,
             false,
             true,
             "/usr/src",
             DriverPart::proprietary_modules,
             {}},
    FileType{
        "DKMS_CONF", false, false, false, true, "/usr/src", DriverPart::proprietary_modules, {}},
    FileType{"FIRMWARE",
             false,
             false,
             false,
             true,
             "/usr/lib/firmware/nvidia",
             DriverPart::kmod_common,
             {}},
    library("CUDA_LIB", true, cuda_libs),
    library_link("CUDA_SYMLINK", true, cuda_libs),
    library("OPENCL_LIB", true, cuda_libs),
    library_link("OPENCL_LIB_SYMLINK", true, cuda_libs),
    library("UTILITY_LIB", false, cuda_libs),
    library_link("UTILITY_LIB_SYMLINK", false, cuda_libs),
    library("NVCUVID_LIB", false, cuda_libs),
    library_link("NVCUVID_LIB_SYMLINK", false, cuda_libs),
    library("ENCODEAPI_LIB", false, cuda_libs),
    library_link("ENCODEAPI_LIB_SYMLINK", false, cuda_libs),
    library("OPENGL_LIB", false, graphics),
    library_link("OPENGL_SYMLINK", false, graphics),
    library("TLS_LIB", true, graphics),
    library("VDPAU_LIB", true, graphics),
    library_link("VDPAU_SYMLINK", true, graphics),
    FileType{"GBM_BACKEND_LIB", true, false, false, false, "/usr/lib64/gbm", graphics, {}},
    FileType{"GBM_BACKEND_LIB_SYMLINK", true, false, true, false, "/usr/lib64/gbm", graphics, {}},
    // Of guests with a virtual GPU; no architecture.
    file("GRID_LIB", true, libraries, cuda),
    FileType{"GRID_LIB_SYMLINK", false, true, true, false, libraries, cuda, {}},
    file("FLEXERA_LIB", true, libraries, cuda),
    FileType{"FLEXERA_LIB_SYMLINK", false, true, true, false, libraries, cuda, {}},
    file("VGX_LIB", false, libraries, cuda_libs),
    FileType{"VGX_LIB_SYMLINK", false, false, true, false, libraries, cuda_libs, {}},
    file("CUDA_ICD", false, "/etc/OpenCL/vendors", cuda_libs),
    file("UTILITY_BINARY", false, "/usr/bin", cuda),
    file("MANPAGE", true, "/usr/share/man", cuda),
    file("NVIDIA_MODPROBE", true, "/", DriverPart::nvidia_modprobe),
    file("NVIDIA_MODPROBE_MANPAGE", true, "/usr/share/man", DriverPart::nvidia_modprobe),
    file("SYSTEMD_UNIT", false, "/usr/lib/systemd/system", cuda),
    file("EXPLICIT_PATH", true, "/", cuda),
    file("OPENGL_DATA", true, "/", graphics),
    file("APPLICATION_PROFILE", true, "/usr/share/nvidia", graphics),
    file("VULKAN_ICD_JSON", true, "/usr/share/vulkan", graphics),
    file("GLVND_EGL_ICD_JSON", false, "/usr/share/glvnd/egl_vendor.d", graphics),
    file("SANDBOXUTILS_FILELIST_JSON", false, "/usr/share/nvidia/files.d", cuda_libs),
    file("DOCUMENTATION", true, "/usr/share/doc/nvidia-driver-cuda", cuda),
    left_out("KERNEL_MODULE", "modules of another kernel"),
    left_out("MODULE_SIGNING_KEY", of_installer),
    left_out("INSTALLER_BINARY", of_installer),
    left_out("UTILITY_BIN_SYMLINK", of_installer),
    left_out("INTERNAL_UTILITY_BINARY", of_installer),
    left_out("INTERNAL_UTILITY_LIB", of_installer),
    left_out("INTERNAL_UTILITY_DATA", of_installer),
    left_out("SYSTEMD_UNIT_SYMLINK", "links that enable units"),
    left_out("SYSTEMD_SLEEP_SCRIPT", for_sleep),
    left_out("GLVND_LIB", distributions),
    left_out("GLVND_SYMLINK", distributions),
    left_out("GLX_CLIENT_LIB", distributions),
    left_out("GLX_CLIENT_SYMLINK", distributions),
    left_out("EGL_CLIENT_LIB", distributions),
    left_out("EGL_CLIENT_SYMLINK", distributions),
    left_out("OPENCL_WRAPPER_LIB", distributions),
    left_out("OPENCL_WRAPPER_SYMLINK", distributions),
    left_out("EGL_EXTERNAL_PLATFORM_JSON", for_display),
    left_out("XMODULE_SHARED_LIB", for_display),
    left_out("GLX_MODULE_SHARED_LIB", for_display),
    left_out("GLX_MODULE_SYMLINK", for_display),
    left_out("XORG_OUTPUTCLASS_CONFIG", for_display),
    left_out("DOT_DESKTOP", for_display),
    left_out("ICON", for_display),
    left_out("VULKANSC_ICD_JSON", for_display),
    left_out("WINE_LIB", "for Wine"),
};

/// Names go into commands, lists and specs.
bool is_plain_path(std::string_view path) {
    constexpr std::string_view others = "._+-/";
    const bool plain = std::ranges::all_of(path, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               others.find(c) != std::string_view::npos;
    });
    return plain && std::ranges::none_of(split(path, '/'), [](auto part) { return part == ".."; });
}

/// The words of a line, taken one after another.
class Words {
public:
    explicit Words(std::string_view line) : words_(words_of(line)) {}

    /// Throws Error if there is none, or it could leave its directory.
    std::string path() {
        const std::string_view word = next();
        if (!is_plain_path(word)) {
            throw error("'{}' is not a path that a driver has", word);
        }
        return std::string(word);
    }
    std::string_view next() {
        if (used_ == words_.size()) {
            throw error("words are missing");
        }
        return words_[used_++];
    }
    /// The value of the last word "MODULE:x", or empty.
    [[nodiscard]] std::string_view module() const {
        constexpr std::string_view prefix = "MODULE:";
        return words_.back().starts_with(prefix) ? words_.back().substr(prefix.size())
                                                 : std::string_view{};
    }

private:
    std::vector<std::string_view> words_;
    std::size_t used_ = 0;
};

unsigned parse_mode(std::string_view text) {
    unsigned mode = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
    if (failed != std::errc() || end != text.data() + text.size() || mode > 07777) {
        throw error("'{}' is not a mode", text);
    }
    return mode;
}

/// The directories of `file` without the first ones, as "INHERIT_PATH_DEPTH:1" says.
std::string inherited_path(const std::string& file, std::string_view depth_word) {
    constexpr std::string_view prefix = "INHERIT_PATH_DEPTH:";
    std::size_t depth = 0;
    if (!depth_word.starts_with(prefix) ||
        std::from_chars(depth_word.data() + prefix.size(), depth_word.data() + depth_word.size(),
                        depth)
                .ec != std::errc()) {
        throw error("'{}' is not the depth of a path", depth_word);
    }
    const std::size_t slash = file.rfind('/');
    std::string_view path =
        std::string_view(file).substr(0, slash == std::string::npos ? 0 : slash);
    for (; depth > 0 && !path.empty(); --depth) {
        const std::size_t end = path.find('/');
        path = end == std::string_view::npos ? std::string_view{} : path.substr(end + 1);
    }
    return std::string(path);
}

/// Nothing for a type that is not known.
ManifestEntry parse_entry(std::string_view line) {
    Words words(line);
    ManifestEntry entry;
    entry.file = words.path();
    entry.mode = parse_mode(words.next());
    const std::string_view name = words.next();
    const auto type = std::ranges::find(file_types, name, &FileType::name);
    if (type == file_types.end()) {
        return entry;
    }
    entry.type = &*type;
    entry.module = words.module();
    if (!type->left_out.empty()) {
        return entry;
    }
    if (type->has_architecture) {
        const std::string_view architecture = words.next();
        if (architecture != "NATIVE" && architecture != "COMPAT32") {
            throw error("'{}' is neither NATIVE nor COMPAT32", architecture);
        }
        entry.compat32 = architecture == "COMPAT32";
    }
    if (type->inherits_path) {
        entry.path = inherited_path(entry.file, words.next());
    } else if (type->has_path) {
        entry.path = trim(words.path(), "/");
    }
    if (type->is_link) {
        entry.target = words.path();
        if (entry.target.starts_with('/') || entry.target == entry.name()) {
            throw error("'{}' is no target of a link that a driver has", entry.target);
        }
    }
    return entry;
}

bool is_version(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; }) &&
           text.front() != '.' && text.find('.') != std::string_view::npos;
}

std::string architecture_of(std::string_view description) {
    for (const char* architecture : {"x86_64", "aarch64"}) {
        if (description.ends_with(std::string("Linux-") + architecture)) {
            return architecture;
        }
    }
    return {};
}

}  // namespace

std::string ManifestEntry::name() const {
    return file.substr(file.rfind('/') + 1);
}

DriverManifest parse_driver_manifest(std::string_view text, const std::string& origin) {
    const std::vector<std::string_view> lines = lines_of(text);
    DriverManifest manifest;
    if (lines.size() <= header_lines || !is_version(trim(lines[1])) || !text.ends_with('\n')) {
        throw error(ErrorKind::usage, "{} is not the manifest of a driver", origin);
    }
    manifest.version = trim(lines[1]);
    manifest.architecture = architecture_of(trim(lines[0]));
    if (manifest.architecture.empty()) {
        throw error(ErrorKind::usage,
                    "{} is of \"{}\", not of a driver for Linux on x86_64 or aarch64", origin,
                    trim(lines[0]));
    }
    for (const std::string_view module : words_of(lines[3])) {
        if (!is_plain_path(module) || module.find('/') != std::string_view::npos) {
            throw error(ErrorKind::usage, "{}:4: '{}' is not a module", origin, module);
        }
        manifest.modules.emplace_back(module);
    }
    for (std::size_t i = header_lines; i < lines.size() && !trim(lines[i]).empty(); ++i) {
        try {
            ManifestEntry entry = parse_entry(lines[i]);
            if (entry.type == nullptr) {
                manifest.unknown.emplace_back(lines[i]);
            } else {
                manifest.entries.push_back(std::move(entry));
            }
        } catch (const Error& wrong) {
            throw error(ErrorKind::usage, "{}:{}: {}", origin, i + 1, wrong.message());
        }
    }
    return manifest;
}

}  // namespace edgegpu
