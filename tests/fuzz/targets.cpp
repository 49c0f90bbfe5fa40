#include "fuzz/targets.hpp"

#include <array>
#include <cstdlib>

#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu::fuzz {

std::span<const Target> targets() {
    static constexpr std::array all{
        Target{"accounts", read_accounts},
        Target{"binary-policy", read_binary_policy},
        Target{"blueprint", read_blueprint},
        Target{"calls", read_calls},
        Target{"capabilities", read_capabilities},
        Target{"cil", read_cil_text},
        Target{"comps", read_comps},
        Target{"dkms-conf", read_dkms_conf},
        Target{"file-contexts", read_file_contexts_text},
        Target{"go-program", read_go_program},
        Target{"image-manifest", read_image_manifest},
        Target{"image-name", read_image_name},
        Target{"initramfs", read_initramfs},
        Target{"kernel-module", read_kernel_module},
        Target{"kube-objects", read_kube_objects},
        Target{"kustomization", read_kustomization},
        Target{"lockfile", read_lockfile_text},
        Target{"metalink", read_metalink_text},
        Target{"modulemd", read_modulemd},
        Target{"openpgp", read_openpgp},
        Target{"ostree-commit", read_ostree_commit},
        Target{"ostree-dirmeta", read_ostree_dirmeta},
        Target{"ostree-dirtree", read_ostree_dirtree},
        Target{"ostree-file", read_ostree_file},
        Target{"overlay-archive", read_overlay_archive},
        Target{"package-database", read_package_database},
        Target{"package-manifest", read_package_manifest},
        Target{"password-hash", read_password_hash},
        Target{"path-glob", read_path_glob},
        Target{"policy-rule", read_policy_rule},
        Target{"primary", read_primary},
        Target{"repo-file", read_repo_file_text},
        Target{"repomd", read_repomd},
        Target{"rpm", read_rpm},
        Target{"rpm-header", read_rpm_header_blob},
        Target{"signing-message", read_signing_message},
        Target{"ssh-key", read_ssh_key},
        Target{"storage-conf", read_storage_conf},
        Target{"updateinfo", read_updateinfo},
    };
    return all;
}

void read_or_refuse(const std::function<void()>& read) {
    try {
        read();
    } catch (const Error& problem) {
        // What a user would be shown has to be made, too.
        static_cast<void>(problem.render());
    }
}

const std::filesystem::path& scratch() {
    static const test::TemporaryDirectory directory;
    // Nothing is taken from this machine.
    static const bool alone = ::setenv("EDGEGPU_HOST_ROOT", "/nonexistent", 1) == 0;
    static_cast<void>(alone);
    return directory.path();
}

std::filesystem::path scratch_file(const char* name, std::string_view data) {
    std::filesystem::path path = scratch() / name;
    write_file(path, data);
    return path;
}

}  // namespace edgegpu::fuzz
