#pragma once

#include <string>
#include <string_view>

#include "support/text/enum_names.hpp"

namespace edgegpu {

/// `[initramfs] compression`. `automatic`: zstd, or gzip where the kernel cannot read that. `none`:
/// an archive as it is, of which a static delta of the next kernel's can be made.
enum class InitramfsCompression { automatic, none };

constexpr std::string_view enum_name(InitramfsCompression compression) {
    return nth_name(compression, {"auto", "none"});
}

/// `[nvidia] modules`: the source of the kernel modules. `automatic`: precompiled ones if there are
/// any, else DKMS.
enum class DriverModules { automatic, precompiled, dkms };

constexpr std::string_view enum_name(DriverModules modules) {
    return nth_name(modules, {"auto", "precompiled", "dkms"});
}

/// `[nvidia] flavor`: which of NVIDIA's two sets of kernel modules. `automatic`: NVIDIA's default
/// for the driver's branch, as far as the devices support it.
enum class DriverFlavor { automatic, open, proprietary };

constexpr std::string_view enum_name(DriverFlavor flavor) {
    return nth_name(flavor, {"auto", "open", "proprietary"});
}

/// How the kernel is chosen: the newest with modules of the driver, the newest of all, or the
/// newest with such modules that matches a glob.
enum class KernelPolicy { newest_supported, newest, matching };

constexpr std::string_view enum_name(KernelPolicy policy) {
    return nth_name(policy, {"newest-supported", "newest", "matching"});
}

/// `[nvidia] kernel`.
struct KernelChoice {
    KernelPolicy policy = KernelPolicy::newest_supported;
    /// NEVRA glob of the kernel package with KernelPolicy::matching, else empty.
    std::string glob;

    /// Parses the blueprint's value: the name of a policy, or a glob.
    [[nodiscard]] static KernelChoice parse(std::string_view text) {
        for (const KernelPolicy policy : {KernelPolicy::newest_supported, KernelPolicy::newest}) {
            if (text == enum_name(policy)) {
                return {policy, {}};
            }
        }
        return text.empty() ? KernelChoice{}
                            : KernelChoice{KernelPolicy::matching, std::string(text)};
    }
    /// The value in the blueprint.
    [[nodiscard]] std::string text() const {
        return policy == KernelPolicy::matching ? glob : std::string(enum_name(policy));
    }
    bool operator==(const KernelChoice&) const = default;
};

/// `[updates] policy`: what a device does by itself about a new commit of its ref. Each does what
/// those before it do.
enum class UpdatePolicy { check, download, apply };

constexpr std::string_view enum_name(UpdatePolicy policy) {
    return nth_name(policy, {"check", "download", "apply"});
}

/// A day of a window in which devices restart, as people and `date` write it.
enum class Weekday { monday, tuesday, wednesday, thursday, friday, saturday, sunday };

constexpr std::string_view enum_name(Weekday day) {
    return nth_name(day, {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"});
}

/// `state` of `[[systemd.units]]`. `preset`: as the image's presets specify.
enum class UnitState { enabled, disabled, masked, preset };

constexpr std::string_view enum_name(UnitState state) {
    return nth_name(state, {"enabled", "disabled", "masked", "preset"});
}

/// `[accounts] login`: where those come from who can log in on a device. `image`: the image itself
/// has somebody; `provisioned`: they are added when the device is installed, by packages or by a
/// service; `none`: nobody is to log in.
enum class LoginSource { image, provisioned, none };

constexpr std::string_view enum_name(LoginSource source) {
    return nth_name(source, {"image", "provisioned", "none"});
}

}  // namespace edgegpu
