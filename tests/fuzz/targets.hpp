#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "support/error.hpp"

namespace edgegpu::fuzz {

/// A format that is read from outside of edgegpu. The corpus is tests/fuzz/corpus/NAME.
struct Target {
    const char* name;
    /// Reads one input. Returns whatever the input is; anything else than an Error that leaves it
    /// is a finding, and so is a check of its own that calls std::abort.
    void (*one_input)(std::string_view data);
};

/// All targets, by name.
[[nodiscard]] std::span<const Target> targets();

/// Calls `read`; that it refuses the input is no finding.
void read_or_refuse(const std::function<void()>& read);

/// A directory of this process, removed at its end.
[[nodiscard]] const std::filesystem::path& scratch();

/// Writes `data` to the file `name` there, and returns its path.
std::filesystem::path scratch_file(const char* name, std::string_view data);

// blueprint_targets.cpp: what a user writes
void read_blueprint(std::string_view data);
void read_lockfile_text(std::string_view data);
void read_overlay_archive(std::string_view data);
void read_password_hash(std::string_view data);
void read_path_glob(std::string_view data);
void read_policy_rule(std::string_view data);
void read_repo_file_text(std::string_view data);
void read_ssh_key(std::string_view data);

// repository_targets.cpp: what a repository serves
void read_comps(std::string_view data);
void read_metalink_text(std::string_view data);
void read_modulemd(std::string_view data);
void read_openpgp(std::string_view data);
void read_primary(std::string_view data);
void read_repomd(std::string_view data);
void read_updateinfo(std::string_view data);

// package_targets.cpp: what a package brings, and what its programs leave behind
void read_accounts(std::string_view data);
void read_calls(std::string_view data);
void read_capabilities(std::string_view data);
void read_dkms_conf(std::string_view data);
void read_initramfs(std::string_view data);
void read_kernel_module(std::string_view data);
void read_package_database(std::string_view data);
void read_package_manifest(std::string_view data);
void read_rpm(std::string_view data);
void read_rpm_header_blob(std::string_view data);
void read_storage_conf(std::string_view data);

// policy_targets.cpp: SELinux policies and their sources
void read_binary_policy(std::string_view data);
void read_cil_text(std::string_view data);
void read_file_contexts_text(std::string_view data);

// bundle_targets.cpp: bundles of Kubernetes manifests, and the program that renders them
void read_go_program(std::string_view data);
void read_kube_objects(std::string_view data);
void read_kustomization(std::string_view data);

// image_targets.cpp: container images
void read_image_manifest(std::string_view data);
void read_image_name(std::string_view data);

// commit_targets.cpp: objects of an ostree repository, and what the signing process is sent
void read_ostree_commit(std::string_view data);
void read_ostree_dirmeta(std::string_view data);
void read_ostree_dirtree(std::string_view data);
void read_ostree_file(std::string_view data);
void read_signing_message(std::string_view data);

}  // namespace edgegpu::fuzz
