#include "driver_package/driver_package.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "driver_package/rpm_build.hpp"
#include "driver_package/run_file.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/output.hpp"
#include "support/files/unpack_limit.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// That of NVIDIA's packages for RHEL, with which these compare by their version.
constexpr std::uint32_t driver_epoch = 3;
constexpr const char* license = "NVIDIA License";

/// As %systemd_post for a new package.
constexpr const char* preset_persistenced =
    "/usr/bin/systemctl --no-reload preset nvidia-persistenced.service || :\n";

std::string name_of(DriverPart part) {
    return std::string(
        nth_name(part, {"nvidia-driver-cuda", "nvidia-driver-cuda-libs", "nvidia-driver-libs",
                        "nvidia-kmod-common", "nvidia-modprobe", "nvidia-persistenced",
                        "kmod-nvidia-latest-dkms", "kmod-nvidia-open-dkms"}));
}

bool is_sources(DriverPart part) {
    return part == DriverPart::proprietary_modules || part == DriverPart::open_modules;
}

/// What the package says of itself and of others; `same` is " = EPOCH:VERSION".
RpmPackage describe_part(DriverPart part, const std::string& same) {
    RpmPackage package;
    package.name = name_of(part);
    const auto of = [&](DriverPart other) { return name_of(other) + same; };
    switch (part) {
        case DriverPart::cuda:
            package.summary = "Programs of NVIDIA's driver for CUDA";
            package.requirements = {of(DriverPart::cuda_libs), of(DriverPart::kmod_common),
                                    of(DriverPart::nvidia_persistenced)};
            package.finds_libraries = true;
            break;
        case DriverPart::cuda_libs:
            package.summary = "Libraries of NVIDIA's driver for CUDA";
            package.provides = {"libnvidia-ml" + same, "libnvidia-cfg" + same};
            // Packages of NVIDIA's with the same files.
            package.conflicts = {"libnvidia-ml", "libnvidia-cfg", "libnvidia-gpucomp",
                                 "nvidia-driver-NVML"};
            package.finds_libraries = true;
            break;
        case DriverPart::graphics_libs:
            package.summary = "Libraries of NVIDIA's driver for OpenGL, Vulkan and ray tracing";
            package.requirements = {of(DriverPart::cuda_libs), "libglvnd-egl",
                                    "libglvnd-gles",           "libglvnd-glx",
                                    "libglvnd-opengl",         "vulkan-loader"};
            package.conflicts = {"libnvidia-fbc", "nvidia-driver-NvFBCOpenGL"};
            package.finds_libraries = true;
            break;
        case DriverPart::kmod_common:
            package.summary = "Firmware and module options of NVIDIA's driver";
            package.requirements = {"nvidia-kmod" + same, of(DriverPart::nvidia_modprobe)};
            break;
        case DriverPart::nvidia_modprobe:
            package.summary = "Creates device nodes of NVIDIA's driver";
            package.finds_libraries = true;
            break;
        case DriverPart::nvidia_persistenced:
            package.summary = "Keeps GPUs initialised";
            // It opens libnvidia-cfg.so.1 itself.
            package.requirements = {of(DriverPart::cuda_libs)};
            package.post_requirements = {"systemd"};
            package.post_install = preset_persistenced;
            package.finds_libraries = true;
            break;
        case DriverPart::proprietary_modules:
        case DriverPart::open_modules:
            package.summary = "Sources of NVIDIA's kernel modules, for dkms";
            package.requirements = {of(DriverPart::kmod_common), "dkms"};
            package.provides = {"nvidia-kmod" + same};
            package.conflicts = {name_of(part == DriverPart::open_modules
                                             ? DriverPart::proprietary_modules
                                             : DriverPart::open_modules)};
            break;
    }
    return package;
}

/// nvidia-installer's dkms.conf with what it would put into it (process_dkms_conf of its files.c).
/// Throws Error for one that has something else to be replaced.
std::string complete_dkms_conf(std::string text, const DriverManifest& manifest,
                               const std::string& origin) {
    std::string modules;
    for (std::size_t i = 0; i < manifest.modules.size(); ++i) {
        modules += fmt::format(
            "BUILT_MODULE_NAME[{0}]=\"{1}\"\nDEST_MODULE_LOCATION[{0}]=\"/kernel/drivers/video\"\n",
            i, manifest.modules[i]);
    }
    const std::pair<std::string_view, std::string> replacements[] = {
        {"__VERSION_STRING", manifest.version},
        {"__DKMS_MODULES", modules},
        // That of dkms -j; its documentation has the variable for this.
        {"__JOBS", "${parallel_jobs:-2}"},
        {"__EXCLUDE_MODULES", ""},
    };
    for (const auto& [token, value] : replacements) {
        for (std::size_t at = text.find(token); at != std::string::npos;
             at = text.find(token, at + value.size())) {
            text.replace(at, token.size(), value);
        }
    }
    if (const std::size_t left = text.find("__"); left != std::string::npos) {
        throw error(ErrorKind::usage, "{}: edgegpu does not know what replaces {}", origin,
                    text.substr(left, text.find_first_of(" '\"\n", left) - left));
    }
    return text;
}

/// A guest's daemon with libraries of its own looks for them where the installer on EL puts them:
/// its unit says "lib", and scripts of the installer correct that.
std::string with_library_path(std::string unit) {
    constexpr std::string_view written = "/usr/lib/nvidia/gridd";
    if (const std::size_t at = unit.find(written); at != std::string::npos) {
        unit.replace(at, written.size(), "/usr/lib64/nvidia/gridd");
    }
    return unit;
}

/// Moves or makes the files below `buildroot`.
void stage_files(const std::vector<DriverFile>& files, const DriverManifest& manifest,
                 const fs::path& unpacked, const fs::path& buildroot) {
    for (const DriverFile& file : files) {
        const fs::path path = buildroot / file.path.substr(1);
        make_directories(path.parent_path());
        if (!file.target.empty()) {
            fs::create_symlink(file.target, path);
            continue;
        }
        if (!file.content.empty()) {
            write_file(path, file.content, file.mode);
        } else if (file.path.ends_with("/dkms.conf")) {
            write_file(path,
                       complete_dkms_conf(read_file(unpacked / file.source), manifest, file.source),
                       file.mode);
        } else if (file.path.ends_with(".service")) {
            write_file(path, with_library_path(read_file(unpacked / file.source)), file.mode);
        } else if (::rename((unpacked / file.source).c_str(), path.c_str()) != 0) {
            throw errno_error(path.string(), errno);
        }
        if (::chmod(path.c_str(), file.mode) != 0) {
            throw errno_error(path.string(), errno);
        }
    }
}

RpmSource describe_source(const DriverManifest& manifest, const Placement& placement,
                          std::int64_t time) {
    RpmSource source;
    source.name = "nvidia-driver-run";
    source.epoch = driver_epoch;
    source.version = manifest.version;
    source.release = placement.is_guest ? "1.grid" : "1.run";
    source.architecture = manifest.architecture;
    source.license = license;
    source.time = time;
    return source;
}

RpmPackage::File packaged(const DriverFile& file) {
    return {file.path, file.mode, !file.target.empty(), file.path.starts_with("/etc/")};
}

/// The directories of the files that no package of a distribution has.
std::set<std::string> own_directories(const std::vector<RpmPackage::File>& files) {
    constexpr std::string_view tops[] = {"/usr/src/nvidia-",
                                         "/usr/lib/firmware/nvidia/",
                                         "/usr/lib64/nvidia",
                                         "/usr/share/licenses/nvidia-",
                                         "/usr/share/doc/nvidia-",
                                         "/usr/share/nvidia",
                                         "/etc/nvidia"};
    std::set<std::string> own;
    for (const RpmPackage::File& file : files) {
        std::string path = file.path;
        for (std::size_t slash = path.rfind('/'); slash > 0; slash = path.rfind('/')) {
            path.resize(slash);
            if (std::ranges::any_of(tops, [&](auto top) { return path.starts_with(top); })) {
                own.insert(path);
            }
        }
    }
    return own;
}

/// The packages of one build: those of user space and firmware together, and each with sources by
/// itself, since both have them at the same paths.
std::vector<RpmPackage> describe_packages(const std::vector<DriverFile>& files,
                                          const std::string& same) {
    std::vector<RpmPackage> packages;
    for (const DriverFile& file : files) {
        if (packages.empty() || packages.back().name != name_of(file.part)) {
            packages.push_back(describe_part(file.part, same));
        }
        packages.back().files.push_back(packaged(file));
    }
    for (RpmPackage& package : packages) {
        package.directories = own_directories(package.files);
    }
    return packages;
}

DriverPackage describe_made(const fs::path& directory, const RpmSource& source,
                            const RpmPackage& package) {
    DriverPackage made;
    made.nevra = {package.name, source.epoch, source.version, source.release, source.architecture};
    made.file = fmt::format("{}-{}-{}.{}.rpm", package.name, source.version, source.release,
                            source.architecture);
    const fs::path path = directory / made.file;
    made.size = fs::file_size(path);
    made.sha256 = sha256_file(path);
    made.files = package.files.size();
    return made;
}

/// The files of the parts, in their order.
std::vector<DriverFile> files_of(const Placement& placement, bool (*wanted)(DriverPart)) {
    std::vector<DriverFile> files;
    std::ranges::copy_if(placement.files, std::back_inserter(files),
                         [&](const DriverFile& file) { return wanted(file.part); });
    return files;
}

/// Where temporary files belong. Throws ErrorKind::usage for a path that rpmbuild does not take.
fs::path temporary_place() {
    fs::path place = fs::absolute(large_temporary_directory());
    const std::string text = place.string();
    if (text.find_first_of(" \t\n%'\"\\$*?[]{}") != std::string::npos) {
        throw error(ErrorKind::usage, "TMPDIR={}: rpmbuild takes no such characters in a path",
                    text)
            .hinted("set TMPDIR to a directory with a plain name");
    }
    return place;
}

/// Makes the packages in `directory`; everything else in `scratch`.
std::vector<DriverPackage> build_packages(const Context& ctx, const DriverManifest& manifest,
                                          const Placement& placement, std::int64_t time,
                                          const fs::path& scratch, const fs::path& directory) {
    const std::string same = fmt::format(" = {}:{}", driver_epoch, manifest.version);
    constexpr bool (*builds[])(DriverPart) = {
        [](DriverPart part) { return !is_sources(part); },
        [](DriverPart part) { return part == DriverPart::proprietary_modules; },
        [](DriverPart part) { return part == DriverPart::open_modules; }};
    std::vector<DriverPackage> made;
    std::size_t number = 0;
    for (const auto& wanted : builds) {
        const std::vector<DriverFile> files = files_of(placement, wanted);
        if (files.empty()) {
            continue;
        }
        const fs::path place = scratch / fmt::format("build-{}", ++number);
        stage_files(files, manifest, scratch / "unpacked", place / "buildroot");
        RpmSource source = describe_source(manifest, placement, time);
        source.packages = describe_packages(files, same);
        build_rpms(ctx, source, place / "buildroot", place / "rpmbuild", directory);
        for (const RpmPackage& package : source.packages) {
            made.push_back(describe_made(directory, source, package));
        }
        remove_tree(place);
    }
    std::ranges::sort(made, {}, [](const DriverPackage& package) { return package.nevra; });
    return made;
}

/// Where the repository goes, without a slash at its end. Throws ErrorKind::usage if it is there.
fs::path new_directory(const fs::path& wanted) {
    std::error_code failed;
    fs::path output = fs::absolute(wanted).lexically_normal();
    output = output.has_filename() ? output : output.parent_path();
    check_output_name(output);
    if (fs::exists(fs::symlink_status(output, failed))) {
        throw error(ErrorKind::usage, "{} exists", output.string())
            .hinted("name a directory that does not, or remove it");
    }
    return output;
}

/// Unpacked, a driver is four times as large, and its packages are as large as itself.
void require_room(const fs::path& run_file, const fs::path& scratch, const fs::path& unfinished) {
    std::error_code failed;
    const std::uint64_t packed = fs::file_size(run_file, failed);
    if (failed) {
        return;  // said when it is opened
    }
    try {
        require_space(scratch, 4 * packed, "the unpacked driver");
        require_space(unfinished, packed, "the packages of the driver");
    } catch (Error& full) {
        throw full.hinted(
            "free some space, set TMPDIR to a directory that has it, or name another --output");
    }
}

/// A run file that was unpacked, and what becomes of its files.
struct ReadDriver {
    UnpackedRunFile run;
    DriverManifest manifest;
    Placement placement;
};

ReadDriver read_driver(const Context& ctx, const fs::path& run_file, const fs::path& unpacked) {
    const std::string name = run_file.string();
    make_directories(unpacked);
    ReadDriver driver;
    driver.run = unpack_run_file(ctx, run_file, unpacked);
    driver.manifest =
        parse_driver_manifest(read_file(unpacked / ".manifest"), ".manifest of " + name);
    driver.placement = place_files(driver.manifest, driver.run.paths, name);
    for (const std::string& line : driver.manifest.unknown) {
        ctx.console->warn(
            fmt::format("{}: edgegpu does not know this kind of file, and leaves it out: {}", name,
                        printable_line(line)));
    }
    return driver;
}

}  // namespace

DriverRepository package_driver(const Context& ctx, Stages& stages, const fs::path& run_file,
                                const fs::path& wanted) {
    const fs::path output = new_directory(wanted);
    const Unfinished unfinished(output);
    const TemporaryDirectory scratch(temporary_place() / "edgegpu-driver");
    require_room(run_file, scratch.path(), unfinished.file("."));
    stages.begin("unpack", "unpacking");
    ReadDriver driver = read_driver(ctx, run_file, scratch / "unpacked");
    const DriverManifest& manifest = driver.manifest;
    stages.end(fmt::format("driver {}, {} files", manifest.version, driver.run.paths.size()));

    stages.begin("packages", "packaging");
    const fs::path directory = unfinished.file("repository");
    make_directories(directory);
    DriverRepository repository;
    repository.directory = output;
    repository.version = manifest.version;
    repository.architecture = manifest.architecture;
    repository.sha256 = driver.run.sha256;
    repository.is_guest = driver.placement.is_guest;
    repository.packages =
        build_packages(ctx, manifest, driver.placement, driver.run.time, scratch.path(), directory);
    repository.left_out = std::move(driver.placement.left_out);
    make_repository(ctx, directory, driver.run.time);
    publish(directory, output, Existing::refuse);
    std::uint64_t size = 0;
    for (const DriverPackage& package : repository.packages) {
        size += package.size;
    }
    stages.end(fmt::format("{} packages, {}", repository.packages.size(), human_size(size)));
    return repository;
}

}  // namespace edgegpu
