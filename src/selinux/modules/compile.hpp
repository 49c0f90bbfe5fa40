#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "selinux/store/store.hpp"
#include "support/files/digest.hpp"

namespace edgegpu::selinux {

/// A module of the blueprint, ready for semodule.
struct CompiledModule {
    std::string name;
    /// the user's file
    std::filesystem::path source;
    /// `.pp`, `.pp.bz2` or `.cil` file on the builder
    std::filesystem::path file;
};

/// The inputs of compiling modules.
struct CompileInputs {
    /// absolute paths of `.te`, `.cil`, `.pp` or `.pp.bz2` files
    std::vector<std::filesystem::path> modules;
    /// packages of the root in which modules with the reference policy's macros are compiled
    const PackageFiles& policy_root;
    const Tree& tree;
    PolicyPaths paths;
    /// the policy has MLS levels
    bool mls = true;
    /// module packages in the image that the same transaction installs
    std::vector<std::string> module_files;
};

/// Adds the names and contents of a module's files to a digest.
void digest_module(Sha256& digest, const std::filesystem::path& source);

/// Adds everything to a digest that the results of `compile_modules` depend on, except the policy.
void digest_modules(const Context& ctx, Sha256& digest, const CompileInputs& inputs);

/// Compiles all modules to packages in `directory`; returns them in the same order. A `.te` without
/// macros is compiled by the builder's checkmodule, one with macros by `compile_with_interfaces`;
/// `.fc` and `.if` files of the same stem belong to it. Other modules are copied. Throws
/// ErrorKind::usage "selinux/x.te:7: …" for errors of the compiler, for file contexts that conflict
/// with the policy's, and for two modules of the same name.
[[nodiscard]] std::vector<CompiledModule> compile_modules(const Context& ctx,
                                                          const CompileInputs& inputs,
                                                          const std::filesystem::path& directory);

/// Compiles or copies one module without macros. `contexts`: the text of its `.fc`. `mls`: the
/// image's policy has MLS levels. Throws like `compile_modules`.
[[nodiscard]] CompiledModule compile_module(const Context& ctx, const std::filesystem::path& source,
                                            const std::string& contexts,
                                            const std::filesystem::path& directory, bool mls);

/// Throws ErrorKind::usage "selinux/x.te:7: …" for errors in a `.te` that can be found without an
/// image: one without macros is compiled by the builder's checkmodule (`tool_file` must find it),
/// for policies with and without MLS levels, of which one has to do. The macros of the others are
/// defined by the image's selinux-policy-devel alone: only their quotes and parentheses are
/// checked. Does nothing for other modules, which `check_policy_module` checks.
void check_module_source(const Context& ctx, const std::filesystem::path& source);

/// Throws ErrorKind::usage for a module whose name the image has already, at any priority, as the
/// one with the higher priority would silently replace the other. `present` has the modules of the
/// store and of scriptlets; `module_files` is as in CompileInputs.
void refuse_collisions(const std::vector<std::filesystem::path>& modules,
                       const std::set<ModuleId>& present,
                       const std::vector<std::string>& module_files);

}  // namespace edgegpu::selinux
