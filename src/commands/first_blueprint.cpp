#include "commands/first_blueprint.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

std::string toml_array(const std::vector<std::string>& values) {
    return fmt::format("[{}]", fmt::join(mapped(values, toml_string), ", "));
}

std::string packages(const std::vector<std::string>& names) {
    return sum_of(names, [](const std::string& name) {
        return fmt::format("\n[[packages]]\nname = {}\n", toml_string(name));
    });
}

std::string head(const FirstBlueprint& wanted) {
    std::string text = fmt::format(
        "# Made by edgegpu init. edgegpu-blueprint(5) describes all tables; docs/common-tasks.md\n"
        "# shows what to add for one thing.\n"
        "name = {}\n"
        "version = \"1.0.0\"\n"
        "distro = {}\n"
        "architecture = \"x86_64\"\n",
        toml_string(wanted.name), toml_string(wanted.distro));
    if (!wanted.repository_files.empty()) {
        text += fmt::format("repository_files = {}\n", toml_array(wanted.repository_files));
    }
    return text + fmt::format(
                      "\n[ostree]\n"
                      "ref = {}\n"
                      "# url = \"https://updates.example.com/repo\"     # where devices pull from\n"
                      "# sign = \"releases@example.com\"                # the key that signs, and "
                      "what devices verify with\n"
                      "# gpg_homedir = \"/srv/edge/gnupg\"\n"
                      "# gpg_public_key = \"/srv/edge/RPM-GPG-KEY-edge\"\n",
                      toml_string(wanted.ref));
}

std::string repository_tables(const std::vector<FirstRepository>& repositories) {
    const auto entitled = [](const FirstRepository& one) { return one.entitled; };
    std::string text;
    if (std::ranges::any_of(repositories, entitled)) {
        text +=
            "\n# Before you build: the certificates of a subscribed machine, with their serial "
            "number "
            "in place of\n# \"entitlement\", its /etc/rhsm/ca/redhat-uep.pem and Red Hat's key.\n";
    }
    for (const FirstRepository& one : repositories) {
        text += fmt::format(
            "\n[[repositories]]\nid = {}\nname = {}\nbaseurl = {}\ngpgkey = {}\n"
            "repo_gpgcheck = {}\n",
            toml_string(one.id), toml_string(one.name), toml_string(one.baseurl),
            toml_string(one.gpgkey), one.signs_metadata);
        text +=
            one.signs_metadata
                ? "gpgcheck = false                              # its packages are not signed\n"
                : "";
        text += one.entitled ? "sslcacert = \"/etc/rhsm/ca/redhat-uep.pem\"\n"
                               "sslclientcert = \"/etc/pki/entitlement/entitlement.pem\"\n"
                               "sslclientkey = \"/etc/pki/entitlement/entitlement-key.pem\"\n"
                             : "";
    }
    return text;
}

/// The driver, and what keeps nouveau away from the GPU.
std::string gpu_tables(const FirstBlueprint& wanted) {
    std::vector<std::string> ids;
    std::vector<std::string> names;
    for (const Gpu& gpu : wanted.gpus) {
        ids.push_back(gpu.id());
        names.push_back(printable_line(gpu.name));
    }
    std::string text = fmt::format(
        "\n# {}\n"
        "[nvidia]\n"
        "driver = {}\n"
        "kernel = \"newest-supported\"                   # the newest that works with the driver\n"
        "devices = {}\n",
        fmt::join(names, ", "), toml_string(wanted.driver), toml_array(ids));
    if (wanted.workload != Workload::none) {
        text += "toolkit = \"1.*\"\n";
    }
    return text + "\n[modprobe]\nblacklist = [\"nouveau\"]\n";
}

/// What runs containers, and lets them use the GPU.
std::string workload_tables(const FirstBlueprint& wanted) {
    const bool gpu = !wanted.gpus.empty();
    const std::vector<std::string> microshift{"microshift", "microshift-greenboot",
                                              "microshift-release-info"};
    switch (wanted.workload) {
        case Workload::podman:
            return !gpu ? packages({"podman"})
                        : "\n# Containers that ask for nvidia_container_t can use the GPU:\n"
                          "#   podman run --device nvidia.com/gpu=all --security-opt "
                          "label=type:nvidia_container_t IMAGE nvidia-smi\n"
                          "[selinux]\n"
                          "modules = [\"nvidia-container\", \"nvidia-devices\"]\n"
                          "\n[[overlays]]\nsource = \"gpu-podman\"\n" +
                              packages({"crun", "nvidia-modprobe"});
        case Workload::microshift:
            return !gpu ? packages(microshift)
                        : "\n# Every container can use the GPU.\n"
                          "[selinux]\n"
                          "modules = [\"nvidia-devices\"]\n"
                          "gpu_containers = true\n"
                          "\n[microshift]\nbundles = [\"nvidia-device-plugin\"]\n"
                          "\n[[overlays]]\nsource = \"gpu-node\"\n" +
                              packages(microshift);
        case Workload::none:
            break;
    }
    return "";
}

std::string customizations(const FirstBlueprint& wanted) {
    std::string text = fmt::format("\n[customizations]\nhostname = {}\n", toml_string(wanted.name));
    if (!wanted.gpus.empty()) {
        text +=
            "\n[customizations.kernel]\n"
            "append = \"rd.driver.blacklist=nouveau modprobe.blacklist=nouveau\"\n";
    }
    if (wanted.workload == Workload::microshift) {
        text += "\n[customizations.services]\nenabled = [\"microshift\"]\n";
    }
    return text + fmt::format(
                      "\n[[customizations.user]]\n"
                      "name = {}\n"
                      "groups = [\"wheel\"]\n"
                      "key = {}\n",
                      toml_string(wanted.user), toml_string(wanted.key));
}

}  // namespace

std::string first_blueprint(const FirstBlueprint& wanted) {
    return head(wanted) + repository_tables(wanted.repositories) +
           (wanted.gpus.empty() ? "" : gpu_tables(wanted)) + workload_tables(wanted) +
           customizations(wanted);
}

}  // namespace edgegpu
