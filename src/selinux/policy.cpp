#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/sources/policy_source.hpp"
#include "cache/store.hpp"
#include "image/image_root.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/tool.hpp"
#include "selinux/gpu_plan.hpp"
#include "selinux/labels/overlay_labels.hpp"
#include "selinux/modules/compile.hpp"
#include "selinux/modules/failures.hpp"
#include "selinux/modules/semodule.hpp"
#include "selinux/policy/policydb.hpp"
#include "selinux/policy_cache.hpp"
#include "selinux/policy_check.hpp"
#include "selinux/selinux.hpp"
#include "selinux/store/calls.hpp"
#include "selinux/store/policy_result.hpp"
#include "selinux/store/store.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;
using namespace selinux;

namespace {

/// Directory of the blueprint's compiled modules in the sandbox.
constexpr std::string_view modules_in_sandbox = "/run/edgegpu/modules";
/// Above the modules of the policy (100) and of packages (200).
constexpr std::string_view user_priority = "400";

/// Whether it is a program or library of the image that affects what semodule writes.
bool is_policy_tool(std::string_view path) {
    constexpr std::string_view libraries[] = {"libsemanage.so.", "libsepol.so.", "libpcre",
                                              "libselinux.so."};
    constexpr std::string_view programs[] = {"semodule", "sefcontext_compile", "setfiles"};
    if (!path.starts_with("/usr/")) {
        return false;
    }
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    return std::any_of(std::begin(libraries), std::end(libraries), begins) ||
           std::find(std::begin(programs), std::end(programs), name) != std::end(programs) ||
           path.ends_with("/selinux/hll/pp");
}

/// Whether genhomedircon reads the file to label home directories.
bool decides_homes(std::string_view path) {
    return path == "/etc/passwd" || path == "/etc/login.defs" || path == "/etc/default/useradd" ||
           path == "/etc/shells" || path == "/etc/libuser.conf" || path == "/usr/lib/passwd" ||
           path == "/etc/nsswitch.conf";
}

/// Digest of everything that the transaction's result depends on.
std::string inputs_digest_of(const CompileInputs& inputs, const SelinuxRequest& request,
                             const Transaction& transaction) {
    const Tree& tree = inputs.tree;
    Sha256 digest;
    digest.update_field("policy transaction 3");
    for (const auto& [path, entry] : tree.entries) {
        if (path.starts_with("/etc/selinux/") || path.starts_with(inputs.paths.store_root + "/") ||
            is_policy_tool(path) || decides_homes(path)) {
            digest.update_field(path);
            digest.update_field(entry.type == EntryType::symlink ? entry.target : entry.digest);
            digest.update_field(fmt::format("{:o} {} {}", entry.mode, entry.uid, entry.gid));
        }
    }
    for (const std::vector<std::string>& call : tree.policy_calls) {
        digest.update_field(fmt::format("call of {}", call.size()));
        for (const std::string& word : call) {
            digest.update_field(word);
        }
    }
    for (const std::string& file : transaction.module_files) {
        digest.update_field(find_entry(tree, file)->digest);
    }
    for (const auto& [key, context] : transaction.file_contexts) {
        digest.update_field(fmt::format("{} {} {}", key.first, key.second, context));
    }
    digest_modules(digest, inputs);
    for (const auto& [name, value] : request.booleans) {
        digest.update_field(name);
        digest.update_field(value ? "1" : "0");
    }
    if (request.gpu_containers) {
        digest.update_field("gpu containers 2");
        digest_module(digest, request.map_module);
        digest.update_field(tool_digest("checkmodule"));
        digest.update_field(tool_digest("semodule_package"));
    }
    return digest.hex();
}

Transaction gather(const SelinuxRequest& request, const Tree& tree, const PolicyPaths& paths) {
    Transaction transaction;
    std::set<ModuleId> modules = stored_modules(tree, paths);
    for (const std::vector<std::string>& call : tree.policy_calls) {
        add_call(transaction, call, modules, paths.type);
    }
    for (const std::string& file : transaction.module_files) {
        const Entry* entry = find_entry(tree, file);
        if (entry == nullptr || entry->type != EntryType::file) {
            throw error("a scriptlet installed the policy module {}, which is not in the image",
                        file)
                .hinted("a scriptlet may have created it in /tmp; its package must contain it");
        }
    }
    refuse_collisions(request.modules, modules, transaction.module_files);
    for (const auto& [name, value] : request.booleans) {
        transaction.booleans[name] = value;
    }
    return transaction;
}

/// The header of libsemanage's files (database_file.c, PACKAGE_NAME).
constexpr std::string_view libsemanage_header =
    "# This file is auto-generated by libsemanage\n# Do not edit directly.\n\n";

constexpr std::uint64_t local_limit = 16U << 20U;

/// A file with local changes in the copy of the store.
struct LocalFile {
    /// in the image
    std::string path;
    /// beginning of a new file
    std::string_view header;
    unsigned mode = 0600;
};

/// Adds `lines` to a file of local changes, replacing lines for which `same(old, new)` is true.
template <typename Same>
void merge_lines(const ImageRoot& root, const LocalFile& file,
                 const std::vector<std::string>& lines, const Same& same) {
    std::vector<std::string> merged;
    std::string text = root.status(file.path)
                           ? root.read(file.path, local_limit, LastLink::not_followed)
                           : std::string();
    if (text.empty()) {
        text = file.header;
    }
    for (const std::string_view part : lines_of(text)) {
        const std::string line(part);
        if (std::none_of(lines.begin(), lines.end(),
                         [&](const std::string& wanted) { return same(line, wanted); })) {
            merged.push_back(line);
        }
    }
    merged.insert(merged.end(), lines.begin(), lines.end());
    root.write(file.path, fmt::format("{}\n", fmt::join(merged, "\n")), {0, 0, file.mode, {}});
}

/// Writes local changes to libsemanage's files (booleans_file.c, fcontexts_file.c), since setsebool
/// -P and semanage need a running kernel or Python.
void write_local_changes(const Transaction& transaction, const PolicyPaths& paths,
                         const StoreCopy& copy) {
    const std::string active = paths.store + "/active";
    const auto same_key = [](char end) {
        return [end](const std::string& a, const std::string& b) {
            const std::string key = b.substr(0, b.find(end) + 1);
            return a.starts_with(key);
        };
    };
    if (!transaction.booleans.empty()) {
        std::vector<std::string> lines;
        for (const auto& [name, value] : transaction.booleans) {
            lines.push_back(fmt::format("{}={}", name, value ? 1 : 0));
        }
        merge_lines(copy.root(), {active + "/booleans.local", libsemanage_header}, lines,
                    same_key('='));
    }
    if (!transaction.file_contexts.empty()) {
        std::vector<std::string> lines;
        for (const auto& [key, context] : transaction.file_contexts) {
            lines.push_back(fmt::format("{} {} {}", key.first, key.second, context));
        }
        merge_lines(copy.root(), {active + "/file_contexts.local", libsemanage_header}, lines,
                    same_key(' '));
    }
    if (!transaction.substitutions.empty()) {
        std::vector<std::string> lines;
        for (const auto& [target, source] : transaction.substitutions) {
            lines.push_back(fmt::format("{} {}", target, source));
        }
        const std::string file = paths.policy + "/contexts/files/file_contexts.subs";
        merge_lines(copy.root(), {file, {}, 0644}, lines, same_key(' '));
    }
}

/// Throws for a boolean that the policy does not have or, with `values`, that has another value.
void check_booleans(const SelinuxRequest& request, const StoreCopy& copy, bool values) {
    if (request.booleans.empty()) {
        return;
    }
    const std::map<std::string, bool> known = copy.binary_policy().booleans();
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const auto& [name, value] : known) {
        names.push_back(name);
    }
    for (const auto& [name, wanted] : request.booleans) {
        const auto found = known.find(name);
        if (found == known.end()) {
            const std::vector<std::string> near = nearest_names(name, names, 3);
            Error unknown =
                error(ErrorKind::usage, "{}: the image's SELinux policy has no boolean '{}'",
                      request.location.text(), name);
            throw near.empty()
                ? unknown.hinted("install the package whose policy module defines it")
                : unknown.hinted(fmt::format("did you mean {}?", fmt::join(near, ", ")));
        }
        if (values && found->second != wanted) {
            throw error("the boolean '{}' did not take effect in the policy", name);
        }
    }
}

/// Whether the policy has MLS levels, judged by its file contexts.
bool has_levels(const Tree& tree, const PolicyPaths& paths) {
    const std::string contexts = paths.policy + "/contexts/files/file_contexts";
    return find_entry(tree, contexts) == nullptr ||
           read_entry(tree, contexts).find(":s0") != std::string::npos;
}

/// Throws the error that explains semodule's output. A type is known if it is in the policy before
/// the transaction, or declared by a module of a package that the transaction installs.
[[noreturn]] void throw_failure(const Context& ctx, const Tree& tree,
                                const Transaction& transaction, const StoreCopy& copy,
                                const std::vector<CompiledModule>& modules,
                                const std::string& output) {
    const PolicyDb before = copy.binary_policy();
    std::vector<CompiledModule> packaged;
    for (const std::string& path : transaction.module_files) {
        const fs::path place = copy.directory() / fmt::format("packaged-{}", packaged.size());
        make_directories(place);
        const fs::path file = place / fs::path(path).filename();
        write_file(file, read_entry(tree, path), 0644);
        packaged.push_back({file.stem().string(), path, file});
    }
    const std::set<std::string> declared = declared_types(ctx, packaged);
    throw explain_failure(ctx, modules, output, [&](std::string_view name) {
        return before.has_type(name) || before.has_attribute(name) ||
               declared.contains(std::string(name));
    });
}

void run_semodule(const Context& ctx, const std::vector<OverlayRequest>& overlays, const Tree& tree,
                  const PolicyPaths& paths, const Transaction& transaction, const StoreCopy& copy,
                  const std::vector<CompiledModule>& modules) {
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.read_only_root = true;
    command.writable_binds = copy.binds();
    command.read_only_binds = {{copy.directory() / "modules", std::string(modules_in_sandbox)}};
    command.argv = {"semodule", "-n", "-s", paths.type};
    const std::size_t without_actions = command.argv.size();
    command.argv.insert(command.argv.end(), transaction.actions.begin(), transaction.actions.end());
    for (const CompiledModule& module : modules) {
        command.argv.insert(command.argv.end(), {"-X", std::string(user_priority), "-i",
                                                 fmt::format("{}/{}", modules_in_sandbox,
                                                             module.file.filename().string())});
        // Readable for the image's root, which is not the user who wrote it.
        fs::permissions(module.file, fs::perms(0644));
    }
    if (command.argv.size() == without_actions) {
        command.argv.emplace_back("-B");
    }
    const ProcessResult result = run_checked(ctx, command, copy, modules);
    if (result.status != 0) {
        explain_refused_label(overlays, result.output, [&] { return copy.binary_policy(); });
        throw_failure(ctx, tree, transaction, copy, modules, result.output);
    }
}

/// A CIL module for each "semanage permissive -a T", as semanage itself makes.
std::vector<CompiledModule> permissive_modules(const Transaction& transaction,
                                               const fs::path& directory) {
    std::vector<CompiledModule> modules;
    for (const std::string& domain : transaction.permissive) {
        const std::string name = "permissive_" + domain;
        const fs::path file = directory / (name + ".cil");
        write_file(file, fmt::format("(typepermissive {})\n", domain), 0644);
        modules.push_back({name, file, file});
    }
    return modules;
}

/// Reports and checks a result, also a cached one.
void finish_policy(const Context& ctx, const Blueprint& blueprint, const PolicyResult& result) {
    if (ctx.console != nullptr && !result.gpu_access.empty()) {
        ctx.console->note("policy: GPU for containers: " + result.gpu_access);
    }
    check_policy(ctx, blueprint.selinux, blueprint.path, result);
}

void refuse_without_policy(const SelinuxRequest& request, const Tree& tree) {
    if (!request.modules.empty() || !request.booleans.empty() || !request.require.empty() ||
        !request.forbid.empty() || request.gpu_containers) {
        throw error(ErrorKind::usage, "{}: the image has no SELinux policy to change",
                    request.location.text())
            .hinted("add selinux-policy-targeted to the packages, or remove [selinux]");
    }
    if (!tree.policy_calls.empty()) {
        throw error("a scriptlet called '{}', but the image has no SELinux policy",
                    fmt::join(tree.policy_calls.front(), " "))
            .hinted("add selinux-policy-targeted to the packages");
    }
}

/// The transaction on a copy of the image's policy.
PolicyResult run_transaction(const Context& ctx, const Blueprint& blueprint, CompileInputs inputs,
                             Transaction transaction) {
    const StoreCopy copy(ctx, inputs.tree, inputs.paths);
    const GpuAccess access =
        plan_gpu_access(ctx, blueprint.selinux, inputs.tree, inputs.paths, copy, transaction);
    inputs.modules = module_sources(blueprint.selinux, access);
    std::vector<CompiledModule> modules =
        compile_modules(ctx, inputs, copy.directory() / "modules");
    std::vector<std::string> names;
    names.reserve(modules.size());
    for (const CompiledModule& module : modules) {
        names.push_back(module.name);
    }
    for (CompiledModule& module : permissive_modules(transaction, copy.directory() / "modules")) {
        modules.push_back(std::move(module));
    }
    if (ctx.console != nullptr) {
        for (const std::string& call : transaction.skipped) {
            ctx.console->note(fmt::format("policy: nothing to do for '{}'", call));
        }
    }
    const bool wanted = !transaction.actions.empty() || !modules.empty() || transaction.rebuild ||
                        !transaction.booleans.empty() || !transaction.file_contexts.empty() ||
                        !transaction.substitutions.empty();
    if (wanted) {
        if (transaction.actions.empty() && modules.empty()) {
            // No new booleans without modules: a misspelt one is reported before the build.
            check_booleans(blueprint.selinux, copy, false);
        }
        write_local_changes(transaction, inputs.paths, copy);
        run_semodule(ctx, blueprint.overlays, inputs.tree, inputs.paths, transaction, copy,
                     modules);
        check_booleans(blueprint.selinux, copy, true);
    }
    PolicyResult result = copy.collect(ctx, inputs.tree);
    result.modules = std::move(names);
    result.gpu_access = access.reason;
    return result;
}

}  // namespace

PolicyResult build_policy(const Context& ctx, const Blueprint& blueprint, const Tree& tree,
                          const PackageFiles& policy_root) {
    const std::optional<PolicyPaths> paths = find_policy(tree);
    if (!paths) {
        refuse_without_policy(blueprint.selinux, tree);
        return {};
    }
    Transaction transaction = gather(blueprint.selinux, tree, *paths);
    const bool mls = has_levels(tree, *paths);
    add_overlay_labels(blueprint.overlays, mls, transaction.file_contexts);
    const CompileInputs inputs{blueprint.selinux.modules, policy_root, tree, *paths, mls,
                               transaction.module_files};
    PolicyResult result = find_or_make(
        ctx, kept_policies, inputs_digest_of(inputs, blueprint.selinux, transaction),
        "is building the same SELinux policy",
        [&](const StoredEntry& entry) { return load_policy(ctx, entry); },
        [&](NewEntry& entry) {
            PolicyResult made = run_transaction(ctx, blueprint, inputs, transaction);
            store_policy(ctx, entry, made);
            return made;
        });
    finish_policy(ctx, blueprint, result);
    return result;
}

void apply_policy(Tree& tree, const PolicyResult& policy) {
    erase_subtree(tree.entries, replay_directory);
    for (const std::string& removed : policy.removed) {
        erase_subtree(tree.entries, removed);
    }
    for (const auto& [path, entry] : policy.entries) {
        tree.entries[path] = entry;
    }
}

}  // namespace edgegpu
