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
    using T = PciFunction;
    static constexpr auto list =
        fields<&T::address, &T::id, &T::device_class, &T::driver, &T::driver_override, &T::silent,
               &T::virtual_function, &T::link_width, &T::max_link_width, &T::max_link_generation,
               &T::unassigned_bars>;
};

template <>
struct FieldsOf<ModuleFile> {
    using T = ModuleFile;
    static constexpr auto list =
        fields<&T::path, &T::exists, &T::error, &T::vermagic, &T::kernel_vermagic, &T::version,
               &T::flavor, &T::is_signed, &T::key_id, &T::signer, &T::blocked, &T::blocked_by>;
};

template <>
struct FieldsOf<ModuleTrust> {
    using T = ModuleTrust;
    static constexpr auto list = fields<&T::enforced, &T::lockdown, &T::secure_boot, &T::keys_known,
                                        &T::keys, &T::names, &T::enrolled>;
};

template <>
struct FieldsOf<LoadedDriver> {
    using T = LoadedDriver;
    static constexpr auto list =
        fields<&T::loaded, &T::version, &T::nvrm, &T::rivals, &T::companions>;
};

template <>
struct FieldsOf<ProcGpu> {
    using T = ProcGpu;
    static constexpr auto list =
        fields<&T::address, &T::model, &T::minor, &T::firmware, &T::excluded>;
};

template <>
struct FieldsOf<FirmwareFile> {
    using T = FirmwareFile;
    static constexpr auto list = fields<&T::path, &T::exists, &T::size>;
};

template <>
struct FieldsOf<DeviceNode> {
    using T = DeviceNode;
    static constexpr auto list = fields<&T::path, &T::exists, &T::is_character_device, &T::major,
                                        &T::minor, &T::expected_major, &T::expected_minor, &T::mode,
                                        &T::uid, &T::gid, &T::label, &T::open_error>;
};

template <>
struct FieldsOf<KernelMessage> {
    using T = KernelMessage;
    static constexpr auto list = fields<&T::microseconds, &T::text>;
};

template <>
struct FieldsOf<Library> {
    using T = Library;
    static constexpr auto list = fields<&T::name, &T::path, &T::version>;
};

template <>
struct FieldsOf<NvmlGpu> {
    using T = NvmlGpu;
    static constexpr auto list =
        fields<&T::address, &T::name, &T::uuid, &T::memory, &T::persistence, &T::mig,
               &T::mig_devices, &T::recovery_action, &T::uncorrected_volatile,
               &T::uncorrected_aggregate, &T::remapped_uncorrectable, &T::remap_pending,
               &T::remap_failed, &T::temperature, &T::licence, &T::code>;
};

template <>
struct FieldsOf<Nvml> {
    using T = Nvml;
    static constexpr auto list = fields<&T::end, &T::text, &T::code, &T::function,
                                        &T::driver_version, &T::library_version, &T::gpus>;
};

template <>
struct FieldsOf<CdiSpec> {
    using T = CdiSpec;
    static constexpr auto list =
        fields<&T::path, &T::error, &T::kind, &T::devices, &T::missing, &T::versions>;
};

template <>
struct FieldsOf<Cdi> {
    using T = Cdi;
    static constexpr auto list = fields<&T::toolkit, &T::specs, &T::hooks>;
};

template <>
struct FieldsOf<Workload> {
    using T = Workload;
    static constexpr auto list =
        fields<&T::how, &T::end, &T::status, &T::text, &T::function, &T::code, &T::passed>;
};

template <>
struct FieldsOf<StepRun> {
    using T = StepRun;
    static constexpr auto list = fields<&T::milliseconds, &T::hung, &T::error>;
};

template <>
struct FieldsOf<Facts> {
    using T = Facts;
    static constexpr auto list =
        fields<&T::format, &T::commit, &T::boot_id, &T::kernel, &T::virtual_machine, &T::stack,
               &T::stack_error, &T::functions, &T::module, &T::trust, &T::driver, &T::proc_gpus,
               &T::firmware, &T::kernel_log, &T::kernel_log_cut, &T::nodes, &T::selinux,
               &T::libraries, &T::nvml, &T::cdi, &T::workloads, &T::runs>;
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
