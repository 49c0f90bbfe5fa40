#include "customise/system/fips.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fnmatch.h>

#include "image/kernel_arguments.hpp"
#include "sandbox/image_program.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view policies = "/usr/share/crypto-policies/FIPS/";

/// dracut's module; the number depends on dracut's version.
constexpr const char* dracut_module = "/usr/lib/dracut/modules.d/[0-9][0-9]fips/module-setup.sh";

bool has_dracut_module(const Tree& tree) {
    const EntryRange entries = entries_below(tree.entries, "/usr/lib/dracut/modules.d");
    return std::ranges::any_of(entries, [](const auto& item) {
        return ::fnmatch(dracut_module, item.first.c_str(), FNM_PATHNAME) == 0;
    });
}

void check_prerequisites(const SourceLocation& location,
                         const std::vector<std::string>& kernel_arguments, const Tree& tree) {
    const std::string where = location.text();
    if (entries_below(tree.entries, policies).empty()) {
        throw error(ErrorKind::usage, "{}: the image has no crypto policy FIPS", where)
            .hinted("add the packages crypto-policies and crypto-policies-scripts");
    }
    if (!has_dracut_module(tree)) {
        throw error(ErrorKind::usage, "{}: the image's dracut has no module fips", where)
            .hinted("add the package dracut (or dracut-fips, where that is a separate package)");
    }
    const std::string hmac = fmt::format("/usr/lib/modules/{}/.vmlinuz.hmac", tree.kernel);
    if (find_entry(tree, hmac) == nullptr) {
        throw error(ErrorKind::usage,
                    "{}: the image has no {}, by which dracut's module fips verifies the kernel: "
                    "devices would halt at each boot",
                    where, hmac)
            .hinted(
                "the kernels of Enterprise Linux bring it; write that of another one with "
                "sha512hmac, in an overlay");
    }
    if (std::ranges::find(kernel_arguments, "fips=0") != kernel_arguments.end()) {
        throw error(ErrorKind::usage, "{}: customizations.kernel.append says fips=0", where);
    }
}

/// Does what `update-crypto-policies --set FIPS` does, for images without that program.
void link_policies(const Context& ctx, Tree& tree) {
    constexpr std::string_view extension = ".txt";
    std::vector<std::string> names;
    for (const auto& [path, entry] : entries_below(tree.entries, policies)) {
        const std::string name = path.substr(policies.size());
        if (name.ends_with(extension)) {
            names.push_back(name.substr(0, name.size() - extension.size()));
        }
    }
    for (const std::string& name : names) {
        put_entry(tree, fmt::format("/etc/crypto-policies/back-ends/{}.config", name),
                  link_to(fmt::format("{}{}{}", policies, name, extension)));
    }
    for (const char* file : {"/etc/crypto-policies/config", "/etc/crypto-policies/state/current"}) {
        put_entry(tree, file, make_file_entry(ctx, "FIPS\n", 0644));
    }
}

void set_policy(const Context& ctx, Tree& tree) {
    if (find_entry(tree, "/usr/bin/update-crypto-policies") == nullptr) {
        link_policies(ctx, tree);
        return;
    }
    run_image_program(ctx, tree, {"update-crypto-policies", "--no-reload", "--set", "FIPS"});
    sync_tree(ctx, tree);
}

bool is_release_8(const Tree& tree) {
    const char* path = "/etc/os-release";
    return find_entry(tree, path) != nullptr &&
           read_entry(tree, path).find("PLATFORM_ID=\"platform:el8\"") != std::string::npos;
}

}  // namespace

void set_fips(const Context& ctx, const FipsRequest& fips,
              const std::vector<std::string>& kernel_arguments, Tree& tree) {
    if (!fips.enabled) {
        return;
    }
    check_prerequisites(fips.location, kernel_arguments, tree);
    set_policy(ctx, tree);
    add_kernel_arguments({"fips=1"}, tree.kernel_arguments);
    put_entry(tree, "/usr/lib/dracut/dracut.conf.d/90-edgegpu-fips.conf",
              make_file_entry(ctx, "add_dracutmodules+=\" fips \"\n", 0644));
    if (is_release_8(tree)) {
        put_entry(tree, "/etc/system-fips",
                  make_file_entry(ctx, "# FIPS module installation complete\n", 0644));
    }
}

}  // namespace edgegpu
