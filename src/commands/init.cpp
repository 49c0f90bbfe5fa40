#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/distro/distro.hpp"
#include "commands/commands.hpp"
#include "commands/first_blueprint.hpp"
#include "execution/context.hpp"
#include "gpu/gpus.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t key_limit = 64ULL << 10U;
constexpr std::uint64_t repository_file_limit = 16ULL << 20U;

/// Whether one of the names of the GPU's boards is this one, with or without "NVIDIA ".
bool is_called(const Gpu& gpu, const std::string& wanted) {
    std::string_view rest = gpu.name;
    while (!rest.empty()) {
        const std::size_t end = rest.find(" / ");
        const std::string name = lower_case(trim(rest.substr(0, end)));
        if (name == lower_case(wanted) || name == "nvidia " + lower_case(wanted)) {
            return true;
        }
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 3);
    }
    return false;
}

/// The only GPU with this PCI id or name. Throws ErrorKind::usage for none, or several.
Gpu one_gpu(const GpuTable& table, const std::string& wanted) {
    std::vector<Gpu> found = match_gpus(table, wanted);
    if (std::vector<Gpu> exact = found; found.size() > 1) {
        std::erase_if(exact, [&](const Gpu& gpu) { return !is_called(gpu, wanted); });
        found = exact.empty() ? found : exact;
    }
    if (found.size() == 1) {
        return found.front();
    }
    if (found.empty()) {
        throw error(ErrorKind::usage, "--gpu {}: {} does not have it", wanted, table.called)
            .hinted("edgegpu gpus lists the GPUs");
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 8); ++i) {
        texts.push_back(found[i].text());
    }
    throw error(ErrorKind::usage, "--gpu {} may be one of {} GPUs", wanted, found.size())
        .hinted(fmt::format("--gpu ID, of {}{}", fmt::join(texts, ", "),
                            found.size() > texts.size() ? ", …" : ""));
}

/// The first line of a file that is a public key.
std::string public_key(const fs::path& file) {
    const std::string content = read_file(file, key_limit);
    for (const std::string_view line : lines_of(content)) {
        if (!trim(line).empty() && !trim(line).starts_with('#')) {
            return std::string(trim(line));
        }
    }
    throw error(ErrorKind::usage, "--key {}: has no public key", file.string());
}

/// The file's name without its suffix, as an image, a ref and a host can be called.
std::string name_of(const fs::path& blueprint) {
    std::string name = blueprint.stem().string();
    constexpr std::string_view good =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-";
    for (char& c : name) {
        c = good.find(c) == std::string_view::npos ? '-' : c;
    }
    return name;
}

/// A path as a blueprint in `directory` understands it.
std::string path_from(const fs::path& directory, const fs::path& file) {
    if (file.is_absolute()) {
        return file.string();
    }
    const fs::path relative = fs::absolute(file).lexically_relative(fs::absolute(directory));
    return "./" + relative.lexically_normal().string();
}

/// Whether a .repo file has a repository with this id.
bool has_repository(const fs::path& file, const std::string& id) {
    const std::string content = read_file(file, repository_file_limit);
    const std::vector<std::string_view> lines = lines_of(content);
    return std::ranges::any_of(lines,
                               [&](std::string_view line) { return trim(line) == '[' + id + ']'; });
}

/// Red Hat's own, which no .repo file names: packages are signed, metadata are not.
void add_red_hat(const DistroName& distro, bool microshift, std::vector<FirstRepository>& found) {
    const std::string& major = distro.major;
    const auto add = [&](const std::string& id, const std::string& name, const std::string& path) {
        found.push_back({id, name, "https://cdn.redhat.com/content/dist/" + path,
                         "file:///etc/pki/rpm-gpg/RPM-GPG-KEY-redhat-release", false, true});
    };
    for (const auto& [part, title] : {std::pair{"baseos", "BaseOS"}, {"appstream", "AppStream"}}) {
        add(fmt::format("rhel-{}-for-x86_64-{}-rpms", major, part),
            fmt::format("Red Hat Enterprise Linux {} - {}", major, title),
            fmt::format("rhel{}/$releasever/$basearch/{}/os", major, part));
    }
    if (!microshift) {
        return;
    }
    if (distro.text() != "rhel-9.4") {
        throw error(ErrorKind::usage, "--workload microshift: which MicroShift is for {}?",
                    distro.text())
            .hinted(
                "--repository-file FILE names a .repo file with its repositories; those of "
                "MicroShift 4.18, for rhel-9.4, are known");
    }
    add("rhocp-4.18-for-rhel-9-x86_64-rpms", "Red Hat OpenShift Container Platform 4.18",
        "layered/rhel9/$basearch/rhocp/4.18/os");
    add("fast-datapath-for-rhel-9-x86_64-rpms", "Fast Datapath",
        "layered/rhel9/$basearch/fast-datapath/os");
}

/// NVIDIA's for Enterprise Linux: the driver's packages are signed, of the toolkit's the metadata.
void add_nvidia(const std::string& major, std::vector<FirstRepository>& found) {
    const std::string cuda = fmt::format(
        "https://developer.download.nvidia.com/compute/cuda/repos/rhel{}/$basearch", major);
    found.push_back({fmt::format("cuda-rhel{}-x86_64", major),
                     fmt::format("NVIDIA CUDA for RHEL {}", major), cuda, cuda + "/D42D0685.pub",
                     false, false});
    found.push_back({"nvidia-container-toolkit", "NVIDIA container toolkit",
                     "https://nvidia.github.io/libnvidia-container/stable/rpm/$basearch",
                     "https://nvidia.github.io/libnvidia-container/gpgkey", true, false});
}

/// Those that the .repo files do not have.
std::vector<FirstRepository> repositories_for(const InitCommand& command,
                                              const DistroName& distro) {
    std::vector<FirstRepository> found;
    const std::vector<std::string> alike{"rhel", "centos", "almalinux", "rocky"};
    if (distro.name == "rhel" && command.repository_files.empty()) {
        add_red_hat(distro, command.workload == "microshift", found);
    }
    if (!command.gpus.empty() && std::ranges::find(alike, distro.name) != alike.end()) {
        add_nvidia(distro.major, found);
    }
    std::erase_if(found, [&](const FirstRepository& one) {
        return std::ranges::any_of(command.repository_files, [&](const fs::path& file) {
            return has_repository(file, one.id);
        });
    });
    return found;
}

FirstBlueprint wanted_by(const InitCommand& command) {
    FirstBlueprint wanted;
    const DistroName distro = split_distro({"--distro"}, command.distro);
    const std::string usual = default_ref(distro, "x86_64");
    wanted.name = name_of(command.blueprint);
    wanted.distro = distro.text();
    wanted.ref = usual.substr(0, usual.rfind('/') + 1) + wanted.name;
    const fs::path directory = fs::absolute(command.blueprint).parent_path();
    for (const fs::path& file : command.repository_files) {
        wanted.repository_files.push_back(path_from(directory, file));
    }
    wanted.repositories = repositories_for(command, distro);
    const GpuTable table = shipped_gpus();
    for (const std::string& gpu : command.gpus) {
        wanted.gpus.push_back(one_gpu(table, gpu));
    }
    wanted.driver = command.driver;
    wanted.workload = command.workload == "microshift" ? Workload::microshift
                      : command.workload == "podman"   ? Workload::podman
                                                       : Workload::none;
    wanted.user = command.user;
    wanted.key = public_key(command.key);
    return wanted;
}

}  // namespace

int run_init(const GlobalOptions& global, const InitCommand& command) {
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    const fs::path path = fs::absolute(command.blueprint).lexically_normal();
    if (std::error_code ignored; fs::exists(fs::symlink_status(path, ignored))) {
        throw error(ErrorKind::usage, "{}: exists already", command.blueprint.string())
            .hinted("edgegpu init FILE writes another one; it never replaces a blueprint");
    }
    // Checked where its relative paths mean what they will mean, under a name that nobody reads.
    const fs::path draft = path.parent_path() / ("." + path.filename().string() + ".new");
    write_file(draft, first_blueprint(wanted_by(command)));
    try {
        Blueprint blueprint = read_checked_blueprint(global, draft, {});
        check_read_blueprint(ctx, blueprint);
        show_remarks(blueprint, console);
        publish(draft, path, Existing::refuse);
    } catch (Error& problem) {
        std::error_code ignored;
        fs::remove(draft, ignored);
        throw problem.traced("in what edgegpu init would have written, of its options");
    }
    const std::string name = shell_word(command.blueprint.string());
    print_result(
        fmt::format("{}: written, and checked\n\nNext:\n"
                    "  edgegpu resolve {}  # the packages\n"
                    "  edgegpu build {}    # the image\n",
                    printable_line(command.blueprint.string()), name, name));
    return 0;
}

}  // namespace edgegpu
