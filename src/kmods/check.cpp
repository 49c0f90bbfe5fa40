#include "kmods/check.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kmods/module_file.hpp"
#include "kmods/symbols.hpp"
#include "kmods/weak_updates.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/kernel_module_name.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

/// Names of the driver's kernel modules; nvidia-peermem exists since branch 470.
std::vector<std::string> module_names(const std::string& driver_version) {
    std::vector<std::string> names{"nvidia", "nvidia-drm", "nvidia-modeset", "nvidia-uvm"};
    if (leading_number<unsigned>(driver_version) >= 470) {
        names.emplace_back("nvidia-peermem");
    }
    return names;
}

/// The package with the modules, for messages.
std::string module_package(const Tree& tree) {
    const auto found = std::ranges::find_if(tree.packages, [](const Nevra& package) {
        return package.name.starts_with("kmod-nvidia") ||
               (package.name.starts_with("nvidia-") &&
                package.name.find("-kmp-") != std::string::npos);
    });
    return found != tree.packages.end() ? found->text() : "the driver's packages";
}

/// name → path of the driver's modules in the image
std::map<std::string, std::string> find_modules(const std::string& driver_version,
                                                const Tree& tree) {
    const std::string directory = fmt::format("/usr/lib/modules/{}/", tree.kernel);
    std::map<std::string, std::string> found;
    for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
        if (entry.type == EntryType::directory || path.starts_with(directory + "kernel/")) {
            continue;
        }
        const Entry* file = find_entry(tree, path);
        if (file != nullptr && file->type == EntryType::file) {
            found.emplace(module_of_file(path), path);
        }
    }
    std::map<std::string, std::string> modules;
    for (const std::string& name : module_names(driver_version)) {
        const auto at = found.find(kernel_module_name(name));
        if (at == found.end()) {
            throw error("kernel module {} is not in the image: {} made none for kernel {}", name,
                        module_package(tree), tree.kernel)
                .hinted(
                    "its scriptlet has to link the modules; take another version of the "
                    "driver, or modules = \"dkms\" in [nvidia]");
        }
        modules.emplace(name, at->second);
    }
    return modules;
}

/// vermagic of one of the kernel's own modules; empty if it has no modules.
std::string kernel_vermagic(const Tree& tree) {
    const std::string directory = fmt::format("/usr/lib/modules/{}/kernel", tree.kernel);
    for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
        if (entry.type == EntryType::file && !module_of_file(path).empty()) {
            const std::string content = unpack_module(read_file(entry.content), path);
            std::string magic = read_module(content, path).value("vermagic");
            if (!magic.empty()) {
                return magic;
            }
        }
    }
    return {};
}

/// Certificates from the driver's packages, and those installed for enrolment: path → content.
std::map<std::string, std::string> find_certificates(const Tree& tree) {
    std::map<std::string, std::string> certificates;
    for (const char* prefix :
         {"/usr/share/nvidia", "/usr/share/edgegpu/secure-boot/", "/etc/pki/"}) {
        for (const auto& [path, entry] : entries_with_prefix(tree.entries, prefix)) {
            constexpr std::uint64_t largest = 1U << 20U;
            const bool named = path.ends_with(".der") || path.ends_with(".x509") ||
                               path.ends_with(".cer") || path.ends_with(".crt");
            if (named && entry.type == EntryType::file && entry.size <= largest) {
                certificates.emplace(path, read_file(entry.content, largest));
            }
        }
    }
    return certificates;
}

/// As the kernel compares a module that has checksums of its symbols with itself (same_magic of
/// kernel/module): the version, which is the first word, does not count.
bool differ_in_version_alone(const std::string& module, const std::string& kernel) {
    const auto rest = [](const std::string& magic) {
        return magic.substr(std::min(magic.find(' '), magic.size()));
    };
    return !kernel.empty() && rest(module) == rest(kernel) &&
           module.find(" modversions") != std::string::npos;
}

void check_identity(const std::string& driver_version, const Tree& tree, const ModuleInfo& info,
                    const std::string& path, const std::string& kernel_magic) {
    const std::string magic = info.value("vermagic");
    const bool fits = is_weak_update(path) ? differ_in_version_alone(magic, kernel_magic)
                                           : info.kernel() == tree.kernel &&
                                                 (kernel_magic.empty() || magic == kernel_magic);
    if (!fits) {
        throw error("{} of {} is not for the image's kernel", path, module_package(tree))
            .traced(fmt::format("module: vermagic '{}'", magic))
            .traced(fmt::format("kernel: vermagic '{}'",
                                kernel_magic.empty() ? tree.kernel : kernel_magic))
            .hinted(
                "set kernel in [nvidia] to the kernel that the modules were made for, or "
                "modules = \"dkms\"");
    }
    const std::string version = info.value("version");
    if (!version.empty() && version != driver_version) {
        throw error("{} of {} is of version {}, the driver of {}", path, module_package(tree),
                    version, driver_version)
            .hinted("the package is damaged: take another version of the driver");
    }
    // modprobe finds it by the file's name, the kernel and what depends on it by this one.
    const std::string name = info.value("name");
    if (!name.empty() && name != module_of_file(path)) {
        throw error("{} of {} is another kernel module, {}", path, module_package(tree), name)
            .hinted("the package is damaged: take another version of the driver");
    }
}

/// Path of the signer's certificate, or "" if the image does not contain it.
std::string check_signature(const Tree& tree, const std::string& path, std::string_view content,
                            const ModuleSignature& signature,
                            const std::map<std::string, std::string>& certificates) {
    for (const auto& [where, certificate] : certificates) {
        const std::optional<bool> fits = signature_fits(content, signature, certificate);
        if (fits && !*fits) {
            throw error(
                "the signature of {} does not match: {} linked other content than was signed", path,
                module_package(tree))
                .traced("signed by " + signature.text())
                .traced("certificate " + where)
                .hinted(
                    "the image's binutils (ld, strip) must be of the signer's version; devices "
                    "with Secure Boot would refuse the module");
        }
        if (fits) {
            return where;
        }
    }
    return {};
}

void report(const Context& ctx, const std::map<std::string, std::vector<std::string>>& signers) {
    for (const auto& [signer, modules] : signers) {
        ctx.console->note(fmt::format("kernel modules {}: {}", fmt::join(modules, ", "), signer));
    }
}

/// The modules that modprobe finds, as depmod lists them: of several of one name, one.
class ModuleIndex {
public:
    /// Throws Error if there is no index.
    explicit ModuleIndex(const Tree& tree)
        : directory_(fmt::format("/usr/lib/modules/{}/", tree.kernel)) {
        const std::string path = directory_ + "modules.dep";
        if (find_entry(tree, path) == nullptr) {
            throw error("the image's depmod made no {}: devices could load no kernel module", path);
        }
        index_ = '\n' + read_entry(tree, path);
    }

    [[nodiscard]] bool lists(const std::string& path) const {
        return index_.find(fmt::format("\n{}:", path.substr(directory_.size()))) !=
               std::string::npos;
    }
    [[nodiscard]] const std::string& directory() const { return directory_; }

private:
    std::string directory_;
    std::string index_;
};

/// A driver may be meant to replace the kernel's own; a package may also do it unnoticed.
void warn_of_replaced_modules(const Context& ctx, const Tree& tree, const ModuleIndex& index) {
    const std::string own = index.directory() + "kernel/";
    std::map<std::string, std::string> of_kernel;
    for (const auto& [path, entry] : entries_below(tree.entries, own)) {
        if (const std::string name = module_of_file(path); !name.empty()) {
            of_kernel.emplace(name, path);
        }
    }
    for (const auto& [path, entry] : entries_below(tree.entries, index.directory())) {
        const auto replaced = of_kernel.find(module_of_file(path));
        if (replaced != of_kernel.end() && !path.starts_with(own) && index.lists(path)) {
            ctx.console->warn(fmt::format("devices load {} in place of the kernel's own module {}",
                                          path, replaced->second));
        }
    }
}

void remove_with_parents(Tree& tree, std::string path, const std::string& top) {
    remove_entry(tree, path);
    for (path.resize(path.rfind('/')); path.size() > top.size(); path.resize(path.rfind('/'))) {
        if (!entries_below(tree.entries, path).empty()) {
            return;
        }
        remove_entry(tree, path);
    }
}

}  // namespace

void remove_module_leftovers(Tree& tree) {
    std::vector<std::pair<std::string, std::string>> leftovers;
    const auto note = [&](const std::string& prefix, const std::string& top, auto is_leftover) {
        for (const auto& [path, entry] : entries_with_prefix(tree.entries, prefix)) {
            if (entry.type != EntryType::directory && is_leftover(path)) {
                leftovers.emplace_back(path, top);
            }
        }
    };
    const auto is_object = [](const std::string& path) {
        return path.ends_with(".o") || path.ends_with(".sig");
    };
    note("/usr/lib64/nvidia/", "/usr/lib64", is_object);
    note("/usr/lib/nvidia/", "/usr/lib", is_object);
    note("/usr/share/nvidia-", "/usr/share",
         [](const std::string& path) { return path.ends_with(".lds") || path.ends_with(".ld"); });
    note("/usr/bin/ld.gold.nvidia", "/usr/bin", [](const std::string&) { return true; });
    note("/usr/src/nvidia", "/usr/src", [](const std::string&) { return true; });
    for (const auto& [path, top] : leftovers) {
        remove_with_parents(tree, path, top);
    }
}

void check_kernel_modules(const Context& ctx, const std::string& driver_version, const Tree& tree) {
    if (driver_version.empty()) {
        return;
    }
    const std::string kernel_magic = kernel_vermagic(tree);
    const std::map<std::string, std::string> certificates = find_certificates(tree);
    std::map<std::string, std::vector<std::string>> signers;
    std::map<std::string, ModuleInfo> modules;
    for (const auto& [name, path] : find_modules(driver_version, tree)) {
        ctx.check_cancelled();
        const std::string content = unpack_module(read_file(find_entry(tree, path)->content), path);
        const ModuleInfo info = read_module(content, path);
        check_identity(driver_version, tree, info, path, kernel_magic);
        std::string signer = "not signed: devices with Secure Boot refuse them";
        if (info.signature) {
            const std::string certificate =
                check_signature(tree, path, content, *info.signature, certificates);
            signer = fmt::format("signed by {}, {}", info.signature->text(),
                                 certificate.empty()
                                     ? "not verified: the image does not have the certificate"
                                     : "certificate " + certificate);
        }
        signers[signer].push_back(name);
        modules.emplace(path, info);
    }
    check_symbols(ctx, tree, modules, module_package(tree));
    report(ctx, signers);
}

void check_module_index(const Context& ctx, const std::string& driver_version, const Tree& tree) {
    const ModuleIndex index(tree);
    warn_of_replaced_modules(ctx, tree, index);
    if (driver_version.empty()) {
        return;
    }
    for (const auto& [name, path] : find_modules(driver_version, tree)) {
        if (!index.lists(path)) {
            throw error("modules.dep of the image does not list {}", path)
                .hinted(
                    "check /etc/depmod.d of the image: a search line may exclude the directory");
        }
    }
}

}  // namespace edgegpu
