#include "repository/commit_advisories.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "repository/ostree_object.hpp"

namespace edgegpu {

namespace {

/// The digits with which a text begins.
std::size_t digits_of(std::string_view text) {
    return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// The ids of CVEs in a text: "CVE-2024-1086 kernel: …", or a URL that ends with one.
void find_cves(std::string_view text, std::set<std::string>& found) {
    constexpr std::string_view prefix = "CVE-";
    constexpr std::string_view year = "2024-";
    for (std::size_t at = text.find(prefix); at != std::string_view::npos;
         at = text.find(prefix, at + prefix.size())) {
        const std::string_view id = text.substr(at + prefix.size());
        if (digits_of(id) != year.size() - 1 || id.size() < year.size() || id[4] != '-') {
            continue;
        }
        // At least four, since CVE-2024-1086 is as short as they are.
        const std::size_t number = digits_of(id.substr(year.size()));
        if (number >= 4) {
            found.emplace(text.substr(at, prefix.size() + year.size() + number));
        }
    }
}

std::vector<std::string> cves_in(GVariant* more) {
    std::set<std::string> found;
    const VariantHandle list(
        g_variant_lookup_value(more, "cve_references", G_VARIANT_TYPE("a(ss)")));
    for (const VariantHandle& item : children_of(list.get())) {
        const char* url = nullptr;
        const char* title = nullptr;
        g_variant_get(item.get(), "(&s&s)", &url, &title);
        const std::size_t before = found.size();
        find_cves(title, found);
        if (found.size() == before) {
            find_cves(url, found);
        }
    }
    return {found.begin(), found.end()};
}

}  // namespace

// Id, kind, severity, NEVRAs, and a dictionary with "cve_references" (rpm-ostree).
std::optional<std::vector<CommitAdvisory>> advisories_in(GVariant* metadata,
                                                         std::string_view commit) {
    const VariantHandle list =
        metadata_value(metadata, "rpmostree.advisories", "a(suuasa{sv})", commit);
    if (!list) {
        return std::nullopt;
    }
    std::vector<CommitAdvisory> advisories;
    for (const VariantHandle& item : children_of(list.get())) {
        const char* id = nullptr;
        guint32 kind = 0;
        guint32 severity = 0;
        g_variant_get(item.get(), "(&suu@as@a{sv})", &id, &kind, &severity, nullptr, nullptr);
        CommitAdvisory advisory{id, GUINT32_FROM_BE(kind), GUINT32_FROM_BE(severity), {}, {}};
        const VariantHandle packages(g_variant_get_child_value(item.get(), 3));
        for (const VariantHandle& package : children_of(packages.get())) {
            advisory.packages.emplace_back(g_variant_get_string(package.get(), nullptr));
        }
        const VariantHandle more(g_variant_get_child_value(item.get(), 4));
        advisory.cves = cves_in(more.get());
        advisories.push_back(std::move(advisory));
    }
    return advisories;
}

}  // namespace edgegpu
