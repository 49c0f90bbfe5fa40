#include "selinux/labels/overlay_labels.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "blueprint/toml/toml_reader.hpp"
#include "image/account_files.hpp"
#include "selinux/policy/policydb.hpp"
#include "support/path_glob.hpp"

namespace edgegpu {

namespace {

/// Calls `use` for each rule with a label, in order.
template <typename Use>
void each_label(const std::vector<OverlayRequest>& overlays, const Use& use) {
    for (const OverlayRequest& overlay : overlays) {
        for (const OverlayRule& rule : overlay.rules) {
            if (!rule.label.empty()) {
                use(rule);
            }
        }
    }
}

/// Field `index` of "user:role:type:level".
std::string_view context_field(std::string_view context, int index) {
    for (; index > 0; --index) {
        context.remove_prefix(std::min(context.find(':'), context.size() - 1) + 1);
    }
    return context.substr(0, context.find(':'));
}

std::string_view type_of(const OverlayRule& rule) {
    return rule.label.find(':') == std::string::npos ? std::string_view(rule.label)
                                                     : context_field(rule.label, 2);
}

/// The path on a device, as in the policy and in the blueprint.
std::string deployed_path(const std::string& path) {
    for (const std::string_view moved : {"/usr/etc", "/usr/lib/opt"}) {
        if (path.starts_with(moved) && path.size() > moved.size() && path[moved.size()] == '/') {
            return path.substr(moved.rfind('/'));
        }
    }
    return path;
}

}  // namespace

namespace selinux {

void add_overlay_labels(const std::vector<OverlayRequest>& overlays, bool mls,
                        std::map<std::pair<std::string, std::string>, std::string>& file_contexts) {
    each_label(overlays, [&](const OverlayRule& rule) {
        const bool whole = rule.label.find(':') != std::string::npos;
        file_contexts[{PathGlob(rule.path).regex(), ""}] =
            whole ? rule.label
                  : fmt::format("system_u:object_r:{}{}", rule.label, mls ? ":s0" : "");
    });
}

void explain_refused_label(const std::vector<OverlayRequest>& overlays, const std::string& output,
                           const std::function<PolicyDb()>& policy) {
    // libsemanage's validate_handler: "invalid context C specified for REGEX [all files]"
    each_label(overlays, [&](const OverlayRule& rule) {
        const std::string place = fmt::format(" specified for {} [", PathGlob(rule.path).regex());
        const std::size_t found = output.find(place);
        if (found == std::string::npos || output.rfind("invalid context ", found) == output.npos) {
            return;
        }
        const std::string type(type_of(rule));
        if (output.find(fmt::format("type {} is not defined", type)) == std::string::npos) {
            throw error_at(rule.location, "the image's SELinux policy has no context \"{}\"",
                           rule.label);
        }
        const std::set<std::string> known = policy().types();
        throw error_at(rule.location, "the image's SELinux policy has no type \"{}\"", type)
            .hinted(near_names_hint(type, {known.begin(), known.end()}));
    });
}

}  // namespace selinux

void check_overlay_labels(const std::vector<OverlayRequest>& overlays, const Tree& tree) {
    std::map<std::string, const OverlayRule*> wanted;
    each_label(overlays, [&](const OverlayRule& rule) {
        const PathGlob glob(rule.path);
        for (const auto& [path, entry] : tree.entries) {
            if (glob.matches(deployed_path(path))) {
                wanted[path] = &rule;
            }
        }
    });
    for (const auto& [path, rule] : wanted) {
        const std::string& label = tree.entries.at(path).label;
        if (label.empty()) {
            throw error_at(rule->location, "the image has no SELinux policy to label {} with", path)
                .hinted("add selinux-policy-targeted to the packages");
        }
        if (context_field(label, 2) != type_of(*rule)) {
            throw error_at(rule->location, "{} gets the label {}, not {}", path, label, rule->label)
                .hinted("file contexts of a path override patterns: use that path in the rule");
        }
    }
}

}  // namespace edgegpu
