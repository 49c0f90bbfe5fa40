#include <algorithm>

#include "gpu_health/judge/examination.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::string_view build_for_kernel = "Build the modules for the kernel of this image";
constexpr std::string_view one_version =
    "Build the image with one version of modules and libraries";

/// Two numbers of keys are the same if the shorter one, of at least 8 digits, ends the longer one.
bool same_key(std::string_view one, std::string_view other) {
    constexpr std::size_t fewest = 8;
    if (one.size() > other.size()) {
        std::swap(one, other);
    }
    return one.size() >= fewest && lower_case(other).ends_with(lower_case(one));
}

/// "Fedora: Fedora kernel signing key" has the organisation before the name.
bool same_name(std::string_view known, std::string_view signer) {
    return !signer.empty() && (known == signer || known.ends_with(": " + std::string(signer)));
}

/// The image has a driver, or should have one.
bool judge_presence_of_module(Examination& examination) {
    const ModuleFile& module = examination.facts.module;
    const std::optional<Stack>& stack = examination.facts.stack;
    if (module.path.empty() && stack && stack->driver.empty()) {
        report(examination, Step::module, Verdict::image, "no-driver-in-image", {},
               "the image has no driver for the GPU", "Add [nvidia] to the blueprint");
        return false;
    }
    if (module.path.empty()) {
        report(examination, Step::module, Verdict::image, "module-missing", {},
               "the kernel " + examination.facts.kernel + " has no module nvidia",
               std::string(build_for_kernel));
        return false;
    }
    if (!module.exists) {
        report(examination, Step::module, Verdict::image, "module-missing", {},
               "modules.dep names " + module.path + ", which is not there",
               std::string(build_for_kernel));
        return false;
    }
    return true;
}

/// vermagic is the kernel's release, then options that have to be the same. The kernel does not
/// compare the release where both have "modversions": weak-updates of EL are such modules.
bool is_for_kernel(const ModuleFile& module, const std::string& kernel) {
    const auto has_modversions = [](const std::string& vermagic) {
        return vermagic.find(" modversions") != std::string::npos;
    };
    const std::string_view magic = trim(module.vermagic);
    const std::string_view release = magic.substr(0, magic.find(' '));
    const std::string_view other = trim(module.kernel_vermagic);
    if (magic.empty() || kernel.empty()) {
        return true;
    }
    const bool compares_release = !has_modversions(module.vermagic) ||
                                  (!other.empty() && !has_modversions(module.kernel_vermagic));
    const bool same_options =
        other.empty() ||
        magic.substr(release.size()) == other.substr(std::min(other.find(' '), other.size()));
    return same_options && (!compares_release || release == kernel);
}

void judge_signature(Examination& examination) {
    const ModuleFile& module = examination.facts.module;
    const ModuleTrust& trust = examination.facts.trust;
    const bool refused = signature_was_refused(examination.facts);
    if (!trust.enforced && !refused) {
        return;
    }
    const std::string by = module.signer.empty() ? module.key_id : module.signer;
    if (!module.is_signed) {
        report(examination, Step::module, Verdict::image, "module-unsigned", {},
               module.path + " is not signed, and this machine loads signed modules only",
               "Sign the modules with a key that the kernel or the machines accept");
        return;
    }
    const std::optional<bool> trusted = signer_is_trusted(module, trust);
    if (trusted && !*trusted) {
        report(examination, Step::module, Verdict::machine, "key-not-enrolled", {},
               "this machine does not know the key of \"" + by + "\", which signed " + module.path,
               "Enrol the signer's certificate on this machine: mokutil --import, then confirm at "
               "the console");
    } else if (trusted && refused) {
        report(examination, Step::module, Verdict::image, "signature-refused", {},
               "the kernel refused the signature of " + module.path +
                   ", although this machine knows the key of \"" + by + "\"",
               "Sign the modules after the last change to them (strip, compression)");
    } else if (refused) {
        report(examination, Step::module, Verdict::unclear, "signature-refused", {},
               "the kernel refused the signature of " + module.path +
                   "; this machine's keys could not be read",
               "Compare the signer (modinfo nvidia) with mokutil --list-enrolled");
    }
}

void judge_loaded_version(Examination& examination) {
    const Facts& facts = examination.facts;
    const std::string& loaded = facts.driver.version;
    const std::string& module = facts.module.version;
    const std::string image = facts.stack ? facts.stack->driver : "";
    if (!loaded.empty() && !image.empty() && loaded != image) {
        report(examination, Step::version, Verdict::image, "version-mismatch", {},
               "the driver that runs is " + loaded + ", the image's is " + image,
               "Build the image anew: its initramfs or another directory has an old module");
    } else if (!loaded.empty() && !module.empty() && loaded != module) {
        report(examination, Step::version, Verdict::image, "version-mismatch", {},
               "the driver that runs is " + loaded + ", the module's file is " + module,
               "Build the image anew: its initramfs or another directory has an old module");
    } else if (!module.empty() && !image.empty() && module != image) {
        report(examination, Step::version, Verdict::image, "version-mismatch", {},
               "the module's file is " + module + ", the image's driver is " + image,
               std::string(one_version));
    }
}

}  // namespace

std::optional<bool> signer_is_trusted(const ModuleFile& module, const ModuleTrust& trust) {
    const auto has_key = [&](const std::vector<std::string>& keys) {
        return std::ranges::any_of(
            keys, [&](const std::string& key) { return same_key(key, module.key_id); });
    };
    const bool has_name = std::ranges::any_of(
        trust.names, [&](const std::string& name) { return same_name(name, module.signer); });
    if (has_name || has_key(trust.keys) || has_key(trust.enrolled)) {
        return true;
    }
    if (!trust.keys_known) {
        return std::nullopt;
    }
    return false;
}

bool signature_was_refused(const Facts& facts) {
    return is_known(facts, Step::kernel_log) &&
           std::ranges::any_of(facts.kernel_log, [](const KernelMessage& message) {
               const std::string text = lower_case(message.text);
               return text.find("loading of ") != std::string::npos &&
                      text.find(" is rejected") != std::string::npos;
           });
}

void judge_module(Examination& examination) {
    const Facts& facts = examination.facts;
    if (!facts.stack_error.empty()) {
        report_note(examination, Step::module, "stack-unreadable", {},
                    "gpu-stack.json cannot be read: " + facts.stack_error,
                    "Build the image anew: nothing can be compared with it");
    }
    if (!is_known(facts, Step::module) || facts.driver.loaded) {
        // A module that runs was accepted by the kernel, whatever its file says.
        return;
    }
    if (!judge_presence_of_module(examination)) {
        return;
    }
    const ModuleFile& module = facts.module;
    if (!module.error.empty()) {
        report(examination, Step::module, Verdict::image, "module-unreadable", {},
               module.path + " cannot be read: " + module.error, "Build the image anew");
        return;
    }
    if (!is_for_kernel(module, facts.kernel)) {
        const bool same_release = module.vermagic.starts_with(facts.kernel + " ");
        report(examination, Step::module, Verdict::image, "module-for-another-kernel", {},
               module.path + " is for \"" + module.vermagic + "\", the kernel is \"" +
                   (same_release ? module.kernel_vermagic : facts.kernel) + "\"",
               std::string(build_for_kernel));
        return;
    }
    judge_signature(examination);
    if (module.blocked) {
        report(examination, Step::module, Verdict::image, "module-blocked", {},
               "udev is told not to load nvidia" +
                   (module.blocked_by.empty() ? "" : ": " + module.blocked_by),
               "Remove it from the image's files or kernel_arguments, or from this machine's "
               "/etc/modprobe.d and kernel arguments");
    }
}

void judge_version(Examination& examination) {
    const Facts& facts = examination.facts;
    if (!is_known(facts, Step::version)) {
        return;
    }
    judge_loaded_version(examination);
    if (!facts.driver.loaded) {
        Found& found = report(examination, Step::version, Verdict::image, "driver-not-loaded", {},
                              "the module nvidia is not loaded",
                              "Try modprobe nvidia, and look at what the kernel says");
        found.consequence = true;
    }
}

void judge_firmware(Examination& examination) {
    const Facts& facts = examination.facts;
    if (!is_known(facts, Step::firmware)) {
        return;
    }
    const std::string version =
        facts.driver.version.empty() ? wanted_version(facts) : facts.driver.version;
    const std::string right = "/nvidia/" + version + "/";
    bool has_right = false;
    std::vector<std::string> other;
    for (const FirmwareFile& file : facts.firmware) {
        if (!file.exists || file.size == 0) {
            report(examination, Step::firmware, Verdict::image, "firmware-missing", {},
                   file.path + (file.exists ? " is empty" : " is not there"),
                   "Put the firmware of exactly the module's version into the image");
        } else if (file.path.find(right) == std::string::npos) {
            other.push_back(file.path);
        } else {
            has_right = true;
        }
    }
    if (!version.empty() && !other.empty() && !has_right) {
        report(examination, Step::firmware, Verdict::image, "firmware-version", {},
               "the firmware is " + listed(other) + ", the module's version is " + version,
               "Put the firmware of exactly the module's version into the image");
    }
}

}  // namespace edgegpu::gpu_health
