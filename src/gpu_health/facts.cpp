#include "gpu_health/facts.hpp"

#include <array>

#include "gpu_health/json_fields.hpp"
#include "gpu_health/stack_fields.hpp"

namespace edgegpu::gpu_health {

template <>
struct NamesOf<ChildEnd> {
    static constexpr std::array names{"not_run", "ended", "crashed", "hung", "missing"};
};

template <>
struct FieldsOf<PciFunction> {
    static constexpr auto list =
        std::tuple{Field{"address", &PciFunction::address},
                   Field{"id", &PciFunction::id},
                   Field{"device_class", &PciFunction::device_class},
                   Field{"driver", &PciFunction::driver},
                   Field{"driver_override", &PciFunction::driver_override},
                   Field{"silent", &PciFunction::silent},
                   Field{"virtual_function", &PciFunction::virtual_function},
                   Field{"link_width", &PciFunction::link_width},
                   Field{"max_link_width", &PciFunction::max_link_width},
                   Field{"max_link_generation", &PciFunction::max_link_generation},
                   Field{"unassigned_bars", &PciFunction::unassigned_bars}};
};

template <>
struct FieldsOf<ModuleFile> {
    static constexpr auto list = std::tuple{Field{"path", &ModuleFile::path},
                                            Field{"exists", &ModuleFile::exists},
                                            Field{"error", &ModuleFile::error},
                                            Field{"vermagic", &ModuleFile::vermagic},
                                            Field{"kernel_vermagic", &ModuleFile::kernel_vermagic},
                                            Field{"version", &ModuleFile::version},
                                            Field{"flavor", &ModuleFile::flavor},
                                            Field{"is_signed", &ModuleFile::is_signed},
                                            Field{"key_id", &ModuleFile::key_id},
                                            Field{"signer", &ModuleFile::signer},
                                            Field{"blocked", &ModuleFile::blocked},
                                            Field{"blocked_by", &ModuleFile::blocked_by}};
};

template <>
struct FieldsOf<ModuleTrust> {
    static constexpr auto list = std::tuple{Field{"enforced", &ModuleTrust::enforced},
                                            Field{"lockdown", &ModuleTrust::lockdown},
                                            Field{"secure_boot", &ModuleTrust::secure_boot},
                                            Field{"keys_known", &ModuleTrust::keys_known},
                                            Field{"keys", &ModuleTrust::keys},
                                            Field{"names", &ModuleTrust::names},
                                            Field{"enrolled", &ModuleTrust::enrolled}};
};

template <>
struct FieldsOf<LoadedDriver> {
    static constexpr auto list =
        std::tuple{Field{"loaded", &LoadedDriver::loaded}, Field{"version", &LoadedDriver::version},
                   Field{"nvrm", &LoadedDriver::nvrm}, Field{"rivals", &LoadedDriver::rivals},
                   Field{"companions", &LoadedDriver::companions}};
};

template <>
struct FieldsOf<ProcGpu> {
    static constexpr auto list =
        std::tuple{Field{"address", &ProcGpu::address}, Field{"model", &ProcGpu::model},
                   Field{"minor", &ProcGpu::minor}, Field{"firmware", &ProcGpu::firmware},
                   Field{"excluded", &ProcGpu::excluded}};
};

template <>
struct FieldsOf<FirmwareFile> {
    static constexpr auto list =
        std::tuple{Field{"path", &FirmwareFile::path}, Field{"exists", &FirmwareFile::exists},
                   Field{"size", &FirmwareFile::size}};
};

template <>
struct FieldsOf<DeviceNode> {
    static constexpr auto list =
        std::tuple{Field{"path", &DeviceNode::path},
                   Field{"exists", &DeviceNode::exists},
                   Field{"is_character_device", &DeviceNode::is_character_device},
                   Field{"major", &DeviceNode::major},
                   Field{"minor", &DeviceNode::minor},
                   Field{"expected_major", &DeviceNode::expected_major},
                   Field{"expected_minor", &DeviceNode::expected_minor},
                   Field{"mode", &DeviceNode::mode},
                   Field{"uid", &DeviceNode::uid},
                   Field{"gid", &DeviceNode::gid},
                   Field{"label", &DeviceNode::label},
                   Field{"open_error", &DeviceNode::open_error}};
};

template <>
struct FieldsOf<KernelMessage> {
    static constexpr auto list = std::tuple{Field{"microseconds", &KernelMessage::microseconds},
                                            Field{"text", &KernelMessage::text}};
};

template <>
struct FieldsOf<Library> {
    static constexpr auto list =
        std::tuple{Field{"name", &Library::name}, Field{"path", &Library::path},
                   Field{"version", &Library::version}};
};

template <>
struct FieldsOf<NvmlGpu> {
    static constexpr auto list =
        std::tuple{Field{"address", &NvmlGpu::address},
                   Field{"name", &NvmlGpu::name},
                   Field{"uuid", &NvmlGpu::uuid},
                   Field{"memory", &NvmlGpu::memory},
                   Field{"persistence", &NvmlGpu::persistence},
                   Field{"mig", &NvmlGpu::mig},
                   Field{"mig_devices", &NvmlGpu::mig_devices},
                   Field{"recovery_action", &NvmlGpu::recovery_action},
                   Field{"uncorrected_volatile", &NvmlGpu::uncorrected_volatile},
                   Field{"uncorrected_aggregate", &NvmlGpu::uncorrected_aggregate},
                   Field{"remapped_uncorrectable", &NvmlGpu::remapped_uncorrectable},
                   Field{"remap_pending", &NvmlGpu::remap_pending},
                   Field{"remap_failed", &NvmlGpu::remap_failed},
                   Field{"temperature", &NvmlGpu::temperature},
                   Field{"licence", &NvmlGpu::licence},
                   Field{"code", &NvmlGpu::code}};
};

template <>
struct FieldsOf<Nvml> {
    static constexpr auto list = std::tuple{Field{"end", &Nvml::end},
                                            Field{"text", &Nvml::text},
                                            Field{"code", &Nvml::code},
                                            Field{"function", &Nvml::function},
                                            Field{"driver_version", &Nvml::driver_version},
                                            Field{"library_version", &Nvml::library_version},
                                            Field{"gpus", &Nvml::gpus}};
};

template <>
struct FieldsOf<CdiSpec> {
    static constexpr auto list =
        std::tuple{Field{"path", &CdiSpec::path},       Field{"error", &CdiSpec::error},
                   Field{"kind", &CdiSpec::kind},       Field{"devices", &CdiSpec::devices},
                   Field{"missing", &CdiSpec::missing}, Field{"versions", &CdiSpec::versions}};
};

template <>
struct FieldsOf<Cdi> {
    static constexpr auto list = std::tuple{
        Field{"toolkit", &Cdi::toolkit}, Field{"specs", &Cdi::specs}, Field{"hooks", &Cdi::hooks}};
};

template <>
struct FieldsOf<Workload> {
    static constexpr auto list =
        std::tuple{Field{"how", &Workload::how},           Field{"end", &Workload::end},
                   Field{"status", &Workload::status},     Field{"text", &Workload::text},
                   Field{"function", &Workload::function}, Field{"code", &Workload::code},
                   Field{"passed", &Workload::passed}};
};

template <>
struct FieldsOf<StepRun> {
    static constexpr auto list =
        std::tuple{Field{"milliseconds", &StepRun::milliseconds}, Field{"hung", &StepRun::hung},
                   Field{"error", &StepRun::error}};
};

template <>
struct FieldsOf<Facts> {
    static constexpr auto list = std::tuple{Field{"format", &Facts::format},
                                            Field{"commit", &Facts::commit},
                                            Field{"boot_id", &Facts::boot_id},
                                            Field{"kernel", &Facts::kernel},
                                            Field{"virtual_machine", &Facts::virtual_machine},
                                            Field{"stack", &Facts::stack},
                                            Field{"stack_error", &Facts::stack_error},
                                            Field{"functions", &Facts::functions},
                                            Field{"module", &Facts::module},
                                            Field{"trust", &Facts::trust},
                                            Field{"driver", &Facts::driver},
                                            Field{"proc_gpus", &Facts::proc_gpus},
                                            Field{"firmware", &Facts::firmware},
                                            Field{"kernel_log", &Facts::kernel_log},
                                            Field{"kernel_log_cut", &Facts::kernel_log_cut},
                                            Field{"nodes", &Facts::nodes},
                                            Field{"selinux", &Facts::selinux},
                                            Field{"libraries", &Facts::libraries},
                                            Field{"nvml", &Facts::nvml},
                                            Field{"cdi", &Facts::cdi},
                                            Field{"workloads", &Facts::workloads},
                                            Field{"runs", &Facts::runs}};
};

std::string facts_json(const Facts& facts) {
    Json json = json_of(facts);
    // Always there: by it readers tell formats apart.
    json["format"] = facts.format;
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Facts read_facts(std::string_view json) {
    Facts facts;
    try {
        read_json_text(json, facts);
        if (facts.format != Facts{}.format) {
            refuse("format", "only " + std::to_string(Facts{}.format) + " is known");
        }
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(std::string("it is not what gpu-health --record gives: ") +
                                 error.what());
    }
    return facts;
}

}  // namespace edgegpu::gpu_health
