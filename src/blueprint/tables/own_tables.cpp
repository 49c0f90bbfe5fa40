#include <algorithm>

#include <fmt/format.h>

#include "blueprint/distro/distro.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "blueprint/tables/tables.hpp"
#include "blueprint/tables/test_table.hpp"
#include "blueprint/toml/validate.hpp"
#include "oci/reference.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

fs::path read_path(const TableReader& table, std::string_view key, const ParseScope& scope) {
    const std::string text = table.string(key);
    return text.empty() ? fs::path{} : path_at(scope, table.location(key), text);
}

void read_ostree(const TableReader& table, const ParseScope& scope, OstreeRequest& ostree) {
    ostree.location = table.location();
    if (table.has("ref")) {
        ostree.ref = table.string("ref", "unread");
        if (!table.attempt([&] { require_ref(table.location("ref"), "ostree.ref", ostree.ref); })) {
            ostree.ref = "unread";  // not missing, but invalid
        }
    }
    ostree.parent = table.string("parent");
    if (!ostree.parent.empty() && !is_sha256(ostree.parent)) {
        table.attempt(
            [&] { require_ref(table.location("parent"), "ostree.parent", ostree.parent); });
    }
    ostree.url = table.string("url");
    if (!ostree.url.empty()) {
        table.attempt([&] {
            const SourceLocation at = table.location("url");
            if (ostree.url.find("://") == std::string::npos) {
                throw error_at(at, "\"ostree.url\" must be a URL, not \"{}\"",
                               url_to_show(ostree.url));
            }
            ostree.url = resolve_url(directory_of(at), ostree.url, at);
        });
    }
    ostree.remote = table.string("remote", "edge");
    if (!is_plain_name(ostree.remote, "_.-")) {
        table.note(error_at(table, "remote", "invalid remote name \"{}\"", ostree.remote));
    }
    ostree.sign = table.string("sign");
    ostree.gpg_homedir = read_path(table, "gpg_homedir", scope);
    ostree.gpg_public_key = read_path(table, "gpg_public_key", scope);
    ostree.sign_ed25519 = read_path(table, "sign_ed25519", scope);
    ostree.sign_command = read_path(table, "sign_command", scope);
    ostree.ed25519_public_key = read_path(table, "ed25519_public_key", scope);
    table.finish();
}

/// An image of which a registry has one version only: the same parent for each build.
ContainerRequest read_parent_image(const TableReader& table, const ParseScope& scope) {
    ContainerRequest image =
        read_image_source({table.string("image"), table.location("image")}, scope);
    image.tls_verify = table.boolean("tls-verify", true);
    const ImagePlace place = image_place(image.located).value();
    if (place.transport == ImageTransport::docker && place.digest().empty()) {
        throw error_at(image.location, "a parent in a registry is named by its digest, not \"{}\"",
                       shown_image(image.source))
            .hinted(fmt::format("image = \"{}@sha256:…\", with the digest that `skopeo inspect "
                                "--format '{{{{.Digest}}}}' {}` prints",
                                parts_of_image_name(place.rest).repository, place.text()));
    }
    return image;
}

ParentRequest read_parent_table(const TableReader& table, const ParseScope& scope) {
    ParentRequest parent;
    parent.location = table.location();
    if (table.has("image")) {
        for (const char* key : {"repository", "ref"}) {
            if (!table.string(key).empty()) {
                table.note(error_at(table, key, "{} together with image in [parent]", key)
                               .hinted("a parent is either a container image, or a commit of a "
                                       "repository"));
            }
        }
        table.attempt([&] { parent.image = read_parent_image(table, scope); });
    } else {
        table.attempt([&] {
            parent.repository =
                path_at(scope, table.location("repository"), table.required_string("repository"));
        });
        table.attempt([&] {
            parent.ref = table.required_string("ref");
            if (!is_sha256(parent.ref)) {
                require_ref(table.location("ref"), "parent.ref", parent.ref);
            }
        });
    }
    table.finish();
    return parent;
}

void set_default_ref(const TableReader& root, Blueprint& blueprint) {
    if (!blueprint.ostree.ref.empty()) {
        return;
    }
    if (blueprint.distro.empty()) {
        throw error_at(root.location(), "no ostree ref")
            .hinted(
                "name the distribution, for \"DISTRO/MAJOR/ARCH/edge\": distro = \"rhel-9.4\", "
                "or --distro rhel-9.4; or set ref in [ostree]");
    }
    blueprint.ostree.ref = default_ref(split_distro(root.location("distro"), blueprint.distro),
                                       blueprint.architecture);
}

bool is_driver(std::string_view text) {
    return text == "latest" || (is_plain_name(text, ".") && text.back() != '.' &&
                                text.find_first_not_of("0123456789.") == std::string_view::npos &&
                                text.find("..") == std::string_view::npos);
}

SecureBootRequest read_secure_boot(const TableReader& table, const ParseScope& scope) {
    SecureBootRequest request;
    request.location = table.location();
    for (const auto& [key, path] : {std::pair<const char*, fs::path&>{"key", request.key},
                                    {"certificate", request.certificate}}) {
        table.attempt([&, key = key, &path = path] {
            path = path_at(scope, table.location(key), table.required_string(key));
        });
    }
    table.finish();
    if (request.certificate.empty()) {
        return request;
    }
    if (!is_plain_name(request.certificate.stem().string(), "_.-")) {
        throw error_at(
            table, "certificate",
            "\"{}\" must be a file whose name has only letters, digits, '_', '.' and '-'",
            table.full_name("certificate"))
            .hinted("the image has it as /usr/share/edgegpu/secure-boot/NAME.der");
    }
    return request;
}

void read_cards(const TableReader& table, NvidiaRequest& nvidia) {
    nvidia.devices_location = table.location("devices");
    for (const LocatedString& device : table.strings("devices")) {
        table.attempt([&] { nvidia.devices.push_back(read_nvidia_device(device)); });
    }
    if (const auto gpus = table.integer("gpus", 1, 64)) {
        nvidia.gpus = static_cast<unsigned>(*gpus);
    }
}

NvidiaRequest read_nvidia(const TableReader& table, const ParseScope& scope) {
    NvidiaRequest nvidia;
    nvidia.location = table.location();
    table.attempt([&] { nvidia.driver = table.required_string("driver"); });
    if (!nvidia.driver.empty() && !is_driver(nvidia.driver)) {
        table.note(
            error_at(table, "driver",
                     "\"nvidia.driver\" must be a branch, a version or \"latest\", not \"{}\"",
                     nvidia.driver)
                .hinted("as in \"535\" or \"535.261.03\""));
    }
    nvidia.modules = table.choice("modules", nvidia.modules);
    nvidia.flavor = table.choice("flavor", nvidia.flavor);
    const std::string kernel = table.string("kernel", nvidia.kernel.text());
    nvidia.kernel = KernelChoice::parse(kernel);
    nvidia.toolkit = table.string("toolkit");
    for (const auto& [key, value] : {std::pair<const char*, const std::string&>{"kernel", kernel},
                                     {"toolkit", nvidia.toolkit}}) {
        if (!value.empty() && !is_plain_name('0' + value, "_.-+~^:*?[]")) {
            table.note(error_at(table, key, "\"{}\" is not a version glob: \"{}\"",
                                table.full_name(key), value));
        }
    }
    nvidia.profile = table.string("profile", "ks");
    if (!is_plain_name(nvidia.profile, "_-")) {
        table.note(error_at(table, "profile", "invalid module profile \"{}\"", nvidia.profile));
    }
    read_cards(table, nvidia);
    if (const auto secure_boot = table.table("secure_boot")) {
        table.attempt([&] { nvidia.secure_boot = read_secure_boot(*secure_boot, scope); });
    }
    table.with_table("vgpu", [&](const TableReader& vgpu) { nvidia.vgpu = read_vgpu(vgpu); });
    if (const auto node = table.integer("numa_node", 0, 1023)) {
        nvidia.numa_node = static_cast<unsigned>(*node);
    }
    // Read after [microshift], whose bundles they change.
    table.finish({"mig", "sharing"});
    return nvidia;
}

void note_numa_node(const TableReader& nvidia, Blueprint& blueprint) {
    if (blueprint.nvidia->numa_node) {
        blueprint.notes.push_back(fmt::format(
            "{}: devices write NUMA node {} to GPUs of which the firmware says none: that taints "
            "their kernel (\"[Firmware Bug]: Overriding NUMA node\"); an expander bridge in the "
            "virtual machine is the cure (edgegpu image --domain)",
            nvidia.location("numa_node").text(), *blueprint.nvidia->numa_node));
    }
}

/// Syntax is checked by check_blueprint, names against the final policy.
std::vector<PolicyRuleRequest> read_policy_rules(const TableReader& table, std::string_view key) {
    std::vector<PolicyRuleRequest> rules;
    for (const LocatedString& rule : table.strings(key)) {
        rules.push_back({rule.value, rule.location});
    }
    return rules;
}

void read_policy_module(const LocatedString& module, const ParseScope& scope,
                        SelinuxRequest& selinux) {
    const fs::path path = find_shipped(scope, "selinux", module, ".te");
    const std::string extension = path.extension().string();
    const bool packed = path.string().ends_with(".pp.bz2");
    if (extension != ".te" && extension != ".cil" && extension != ".pp" && !packed) {
        throw error_at(module.location, "\"{}\" is not a policy module", module.value)
            .hinted("a name, or a path ending in .te, .cil, .pp or .pp.bz2");
    }
    const std::string name = policy_module_name(path);
    for (const fs::path& earlier : selinux.modules) {
        if (policy_module_name(earlier) == name) {
            throw error_at(module.location, "duplicate policy module \"{}\"", name);
        }
    }
    selinux.modules.push_back(path);
    selinux.module_locations.push_back(module.location);
}

void read_selinux(const TableReader& table, const ParseScope& scope, SelinuxRequest& selinux) {
    selinux.location = table.location();
    for (const LocatedString& module : table.strings("modules")) {
        table.attempt([&] { read_policy_module(module, scope, selinux); });
    }
    if (const auto booleans = table.table("booleans")) {
        for (const std::string& name : booleans->keys()) {
            if (!is_plain_name(name, "_")) {
                table.note(error_at(*booleans, name, "invalid SELinux boolean \"{}\"", name));
            }
            selinux.booleans[name] = booleans->boolean(name, false);
        }
    }
    selinux.require = read_policy_rules(table, "require");
    selinux.forbid = read_policy_rules(table, "forbid");
    selinux.gpu_containers = table.boolean("gpu_containers", false);
    table.finish();
}

}  // namespace

std::string read_nvidia_device(const LocatedString& text) {
    std::string id = lower_case(text.value);
    const bool well_formed = id.size() == 9 && id[4] == ':' &&
                             id.find_first_not_of("0123456789abcdef:") == std::string::npos &&
                             std::ranges::count(id, ':') == 1;
    if (!well_formed) {
        throw error_at(text.location, "\"{}\" is not a PCI id", text.value)
            .hinted("VENDOR:DEVICE as lspci -n shows it, as in \"10de:20b7\"");
    }
    if (!id.starts_with("10de:")) {
        throw error_at(text.location, "\"{}\" is not a device of NVIDIA", text.value)
            .hinted("NVIDIA's devices begin with \"10de:\"; lspci -d 10de: -n lists them");
    }
    return id;
}

NvidiaRequest read_nvidia_cards(const TableReader& table) {
    NvidiaRequest nvidia;
    nvidia.location = table.location();
    read_cards(table, nvidia);
    if (table.has("vgpu")) {
        nvidia.vgpu.emplace();
    }
    if (table.has("secure_boot")) {
        nvidia.secure_boot.emplace();
    }
    return nvidia;
}

void read_ostree_table(const TableReader& root, const ParseScope& scope, Blueprint& blueprint) {
    // Location for messages about the whole blueprint, in case there is no [ostree].
    blueprint.ostree.location = root.location();
    root.with_table("ostree", read_ostree, scope, blueprint.ostree);
}

namespace {

void read_openshift_table(const TableReader& root, const ParseScope& scope, Blueprint& blueprint) {
    const auto openshift = root.table("openshift");
    if (!openshift) {
        return;
    }
    blueprint.openshift = read_openshift(*openshift, scope);
    if (!blueprint.parent) {
        blueprint.notes.push_back(fmt::format(
            "{}: a node needs kubelet, CRI-O and the machine config daemon's programs of its "
            "release; without [parent] the blueprint has to bring them",
            openshift->location().text()));
    }
    blueprint.notes.push_back(
        fmt::format("{}: while its MachineConfig exists, pool \"{}\" gets no operating system from "
                    "the cluster's upgrades: each release of OpenShift needs this image anew",
                    openshift->location().text(), blueprint.openshift->pool));
}

}  // namespace

void read_own_tables(const TableReader& root, const ParseScope& scope, Blueprint& blueprint) {
    read_ostree_table(root, scope, blueprint);
    root.attempt([&] { set_default_ref(root, blueprint); });
    if (const auto parent = root.table("parent")) {
        blueprint.parent = read_parent_table(*parent, scope);
    }
    const std::optional<TableReader> nvidia = root.table("nvidia");
    if (nvidia) {
        blueprint.nvidia = read_nvidia(*nvidia, scope);
        note_numa_node(*nvidia, blueprint);
        if (blueprint.nvidia->modules == DriverModules::dkms && is_suse(blueprint.distro)) {
            nvidia->note(error_at(*nvidia, "modules",
                                  "modules = \"dkms\" is not for {}: its kernel module packages "
                                  "have compiled modules, for the kernel's flavour",
                                  blueprint.distro)
                             .hinted("set modules = \"precompiled\", or leave it out"));
        }
    }
    root.with_table("selinux", read_selinux, scope, blueprint.selinux);
    root.with_table("modprobe", read_modprobe, blueprint.modprobe);
    if (const auto initramfs = root.table("initramfs")) {
        blueprint.initramfs_compression =
            initramfs->choice("compression", blueprint.initramfs_compression);
        initramfs->finish();
    }
    root.with_table("systemd", read_systemd, scope, blueprint.systemd);
    root.each_table("overlays", [&](const TableReader& overlay) {
        blueprint.overlays.push_back(read_overlay(overlay, scope));
    });
    root.each_table("allow_secrets", [&](const TableReader& allowance) {
        blueprint.allow_secrets.push_back(read_secret_allowance(allowance));
    });
    root.with_table("microshift", read_microshift, scope, blueprint.microshift);
    read_openshift_table(root, scope, blueprint);
    if (nvidia) {
        read_gpu_sharing(*nvidia, blueprint);
    }
    root.with_table("accounts", read_accounts_table, blueprint.accounts);
    if (const auto updates = root.table("updates")) {
        blueprint.updates = read_updates(*updates);
        if (blueprint.ostree.url.empty()) {
            root.note(error_at(updates->location(), "devices would have nothing to update from")
                          .hinted("set url in [ostree], from which devices pull"));
        }
    }
    if (const auto test = root.table("test")) {
        blueprint.test = read_test_table(*test, scope);
    }
    if (const auto health = root.table("health")) {
        if (const auto gpu = health->table("gpu")) {
            blueprint.gpu_health = read_gpu_health(*gpu, blueprint.nvidia);
        }
        health->finish();
    }
}

}  // namespace edgegpu
