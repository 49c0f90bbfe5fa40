#include "blueprint/parse/secrets_check.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/sources/overlay_source.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "blueprint/sources/source_directory.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/written_secrets.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr const char* way_out =
    "give it to each machine when its image is made (edgegpu image --inject) or on the device; "
    "what everybody may have is recorded in [[allow_secrets]] (docs/blueprint.md, Secrets)";

/// Calls `use` unless the file cannot be read.
template <typename Use>
void with_file(const fs::path& file, const Use& use) {
    std::string content;
    try {
        content = source_head(file);
    } catch (const Error&) {
        return;
    }
    use(content);
}

void check_files(const Blueprint& blueprint, SecretCheck& check) {
    for (const FileRequest& file : blueprint.files) {
        if (file.source.empty()) {
            check.check_text(file.location, "", file.path, file.data);
        } else {
            with_file(file.source, [&](const std::string& content) {
                check.check_file(file.source.string(), file.path, content);
            });
        }
    }
}

void check_units(const Blueprint& blueprint, SecretCheck& check) {
    for (const UnitRequest& unit : blueprint.systemd.units) {
        const std::string path = "/usr/lib/systemd/system/" + unit.name;
        check.check_text(unit.location, "", path, unit.contents.value_or(""));
        for (const auto& [name, text] : unit.drop_ins) {
            check.check_text(unit.location, "", fmt::format("{}.d/{}", path, name), text);
        }
    }
    for (std::size_t i = 0; i < blueprint.firstboot.size(); ++i) {
        const FirstbootScript& script = blueprint.firstboot[i];
        check.check_text(script.location, "",
                         fmt::format("/usr/libexec/edgegpu/firstboot/{:02}-{}", i + 1, script.name),
                         script.contents);
    }
}

/// What becomes a line of a file that the build writes.
void check_settings(const Blueprint& blueprint, SecretCheck& check) {
    check.check_text(blueprint.kernel.location, "", "/usr/lib/edgegpu/kernel-arguments",
                     fmt::format("{}", fmt::join(blueprint.kernel.arguments, "\n")));
    check.check_text(blueprint.ostree.location, "",
                     fmt::format("/etc/ostree/remotes.d/{}.conf", blueprint.ostree.remote),
                     "url=" + blueprint.ostree.url);
    for (const auto& [module, options] : blueprint.modprobe.options) {
        check.check_text(blueprint.modprobe.location, "", "/etc/modprobe.d/edgegpu.conf", options);
    }
    for (const DeviceRepository& device : blueprint.device_repositories) {
        const Repository& repository = device.repository;
        std::vector<std::string> urls = repository.baseurls;
        urls.insert(urls.end(), {repository.metalink, repository.mirrorlist});
        urls.insert(urls.end(), repository.gpgkeys.begin(), repository.gpgkeys.end());
        check.check_text(repository.location, "", "/etc/yum.repos.d/" + device.filename,
                         fmt::format("{}", fmt::join(urls, "\n")));
    }
    if (blueprint.microshift.config) {
        check.check_text(blueprint.microshift.config->location, "",
                         "/etc/microshift/config.d/10-edgegpu.yaml",
                         blueprint.microshift.config->document);
    }
}

void check_policy_modules(const Blueprint& blueprint, SecretCheck& check) {
    for (const fs::path& module : blueprint.selinux.modules) {
        for (const fs::path& file : files_of_module(module)) {
            with_file(file, [&](const std::string& content) {
                check.check_file(file.string(), "/etc/selinux/" + file.filename().string(),
                                 content);
            });
        }
    }
}

}  // namespace

SecretCheck::SecretCheck(const std::vector<SecretAllowance>& allowances, Mistakes& mistakes)
    : mistakes_(mistakes) {
    for (const SecretAllowance& allowance : allowances) {
        allowances_.push_back({&allowance, PathGlob(allowance.path)});
    }
}

bool SecretCheck::allowed(std::string_view path, std::string_view machine) {
    bool any = false;
    for (Allowance& allowance : allowances_) {
        const SecretAllowance& request = *allowance.request;
        if (!request.kind.empty() ? request.path == path : allowance.glob.matches(path)) {
            // Also where it is not enough: that is told, and not that it were needless.
            allowance.used = allowance.used || request.kind.empty() || request.kind == machine;
            any = any || request.kind == machine;
        }
    }
    return any;
}

std::optional<WrittenSecret> SecretCheck::find(const std::string& path, std::string_view content) {
    for (const WrittenSecret& secret : find_written_secrets(path, content)) {
        if (!allowed(path, machine_secret(secret.kind))) {
            return secret;
        }
    }
    return std::nullopt;
}

void SecretCheck::check_file(const std::string& file, const std::string& path,
                             std::string_view content) {
    if (const std::optional<WrittenSecret> secret = find(path, content)) {
        add({file, std::max(secret->line, 1U), 1}, secret->kind, path, "",
            machine_secret(secret->kind));
    }
}

void SecretCheck::check_text(const SourceLocation& location, std::string_view source,
                             const std::string& path, std::string_view content) {
    if (const std::optional<WrittenSecret> secret = find(path, content)) {
        const std::string line =
            secret->line > 1 ? fmt::format(" (line {})", secret->line) : std::string();
        add(location, fmt::format("{}{}{}", source, secret->kind, line), path, "",
            machine_secret(secret->kind));
    }
}

bool SecretCheck::add(const SourceLocation& location, std::string_view what,
                      const std::string& path, const std::string& hint, std::string_view machine) {
    if (allowed(path, machine)) {
        return false;
    }
    std::string way = hint.empty() ? way_out : fmt::format("{}; or {}", hint, way_out);
    if (!machine.empty()) {
        way += fmt::format(", with this path alone and kind = \"{}\"", machine);
    }
    mistakes_.add(error_at(location,
                           "{} would be in the image, in {}: everybody who can read the "
                           "repository or a device gets it",
                           what, path)
                      .hinted(way));
    return true;
}

std::vector<std::string> SecretCheck::warnings() const {
    std::vector<std::string> texts;
    for (const Allowance& allowance : allowances_) {
        const SecretAllowance& request = *allowance.request;
        if (allowance.used && !request.kind.empty()) {
            texts.push_back(
                fmt::format("{}: {} has a {}, as [[allow_secrets]] says: everybody who can read "
                            "the repository or a device gets it",
                            request.location.text(), request.path, request.kind));
        }
    }
    return texts;
}

void SecretCheck::note_idle(const SecretAllowance& allowance) const {
    mistakes_.add(error_at(allowance.location, "no file that matches \"{}\" has a {}",
                           allowance.path, allowance.kind.empty() ? "secret" : allowance.kind)
                      .hinted("remove it: it would let one in that nobody has looked at"));
}

bool is_for_bundles(const SecretAllowance& allowance) {
    return allowance.path.starts_with("/etc/microshift/manifests") ||
           allowance.path.starts_with("/usr/lib/microshift/manifests");
}

void check_secrets(const Blueprint& blueprint, SecretCheck& check) {
    check_files(blueprint, check);
    check_units(blueprint, check);
    check_settings(blueprint, check);
    check_policy_modules(blueprint, check);
}

}  // namespace edgegpu
