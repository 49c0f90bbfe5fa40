#include "commands/image/image_machine.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "gpu/address_space.hpp"
#include "machine/virtual_machine.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/output.hpp"
#include "support/text/quantity.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t usual_memory_mib = 16384;
constexpr std::uint64_t least_memory_mib = 512;
constexpr unsigned usual_cpus = 4;

std::uint64_t memory_of(const ImageCommand& command) {
    const std::uint64_t mib = command.machine_memory.empty()
                                  ? usual_memory_mib
                                  : parse_size(command.machine_memory).value() >> 20U;
    if (mib < least_memory_mib) {
        throw error(ErrorKind::usage, "--memory {}: a machine of {} MiB at least",
                    command.machine_memory, least_memory_mib);
    }
    return mib;
}

void refuse_idle_options(const ImageCommand& command) {
    for (const auto& [given, name] : {std::pair{!command.host_gpus.empty(), "--gpu"},
                                      {!command.machine_memory.empty(), "--memory"},
                                      {command.machine_cpus != 0, "--cpus"}}) {
        if (given) {
            throw error(ErrorKind::usage, "{} applies to --domain and --vmx only", name);
        }
    }
}

void require_free_name(const fs::path& path, const ImageRequest& request) {
    check_output_name(path);
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(path, failure);
    if (path == request.output || fs::is_directory(status) ||
        (fs::exists(status) && !fs::is_regular_file(status))) {
        throw error(ErrorKind::usage, "{}: is no name for another file", path.string());
    }
    if (fs::exists(status) && !request.replace) {
        throw error(ErrorKind::usage, "{}: exists already", path.string())
            .hinted("--force replaces it");
    }
}

std::string domain_of(const ImageCommand& command, const ImageRequest& request,
                      const ImageChoices& choices) {
    const bool startable = request.compression != ImageCompression::zstd &&
                           (request.type == ImageType::raw || request.type == ImageType::qcow2);
    if (!startable) {
        throw error(ErrorKind::usage, "--domain is for an image that QEMU starts as it is")
            .hinted("--type raw or qcow2, not compressed by zstd");
    }
    if (command.host_gpus.empty()) {
        throw error(ErrorKind::usage, "--domain needs the host's GPUs: --gpu ADDRESS@NODE")
            .hinted(std::string(host_gpu_forms));
    }
    VirtualMachine machine;
    machine.name = request.output.stem().string();
    machine.memory_mib = memory_of(command);
    machine.cpus = command.machine_cpus == 0 ? usual_cpus : command.machine_cpus;
    machine.disk = request.output;
    machine.disk_format = enum_name(request.type);
    machine.virtual_gpus = choices.virtual_gpus;
    machine.secure_boot = choices.secure_boot;
    for (const std::string& gpu : command.host_gpus) {
        machine.gpus.push_back(parse_host_gpu(gpu));
    }
    return domain_xml(machine);
}

std::string vmx_of(const ImageCommand& command, const ImageChoices& choices, Console& console) {
    std::vector<std::string> cards = choices.cards;
    // Of cards that no blueprint names, the model is not known.
    cards.resize(std::max({cards.size(), command.host_gpus.size(), std::size_t{1}}));
    for (const std::string& card : cards) {
        if (const BarSize bar = largest_bar(card); !bar.known) {
            console.warn(fmt::format(
                "--vmx: how much address space {} takes is not known: {} GiB are assumed",
                card.empty() ? "a GPU that [nvidia] devices does not name" : card, bar.gib));
        }
    }
    return vmx_lines(memory_of(command),
                     command.machine_cpus == 0 ? usual_cpus : command.machine_cpus,
                     window_gib(cards));
}

}  // namespace

std::vector<MachineFile> machine_files(const ImageCommand& command, const ImageRequest& request,
                                       const ImageChoices& choices, Console& console) {
    if (command.domain.empty() && command.vmx.empty()) {
        refuse_idle_options(command);
        return {};
    }
    if (request.type == ImageType::installer_iso) {
        throw error(ErrorKind::usage, "{} does not apply to --type installer-iso",
                    command.domain.empty() ? "--vmx" : "--domain");
    }
    std::vector<MachineFile> files;
    if (!command.domain.empty()) {
        files.push_back({"domain", fs::absolute(command.domain).lexically_normal(),
                         domain_of(command, request, choices)});
    }
    if (!command.vmx.empty()) {
        files.push_back({"vmx", fs::absolute(command.vmx).lexically_normal(),
                         vmx_of(command, choices, console)});
    }
    for (const MachineFile& file : files) {
        require_free_name(file.path, request);
    }
    if (files.size() == 2 && files[0].path == files[1].path) {
        throw error(ErrorKind::usage, "--domain and --vmx are the same file");
    }
    return files;
}

void write_machine_files(const std::vector<MachineFile>& files, bool replace) {
    for (const MachineFile& file : files) {
        const Unfinished unfinished(file.path);
        write_file(unfinished.file("text"), file.text);
        publish(unfinished.file("text"), file.path, replace ? Existing::replace : Existing::refuse);
    }
}

}  // namespace edgegpu
