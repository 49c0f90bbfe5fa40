#include "report/diff_packages.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <rpm/rpmver.h>

#include "support/handles.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

using Version = Handle<rpmver_s, rpmverFree>;
using Versions = std::set<std::string>;

Versions without(const Versions& all, const Versions& others) {
    Versions rest;
    std::ranges::set_difference(all, others, std::inserter(rest, rest.end()));
    return rest;
}

}  // namespace

const char* PackageChange::kind() const {
    if (before.empty() || now.empty()) {
        return before.empty() ? "added" : "removed";
    }
    const Version older(rpmverParse(before.c_str()));
    const Version newer(rpmverParse(now.c_str()));
    // Malformed versions cannot be compared; they count as upgraded.
    return older && newer && rpmverCmp(older.get(), newer.get()) > 0 ? "downgraded" : "upgraded";
}

std::vector<PackageChange> compare_packages(const std::vector<Nevra>& before,
                                            const std::vector<Nevra>& now) {
    std::map<std::pair<std::string, std::string>, std::pair<Versions, Versions>> slots;
    for (const Nevra& nevra : before) {
        slots[{nevra.name, nevra.arch}].first.insert(nevra.evr());
    }
    for (const Nevra& nevra : now) {
        slots[{nevra.name, nevra.arch}].second.insert(nevra.evr());
    }
    std::vector<PackageChange> changes;
    for (const auto& [key, versions] : slots) {
        const Versions gone = without(versions.first, versions.second);
        const Versions came = without(versions.second, versions.first);
        if (gone.size() == 1 && came.size() == 1) {
            changes.push_back({key.first, key.second, *gone.begin(), *came.begin()});
            continue;
        }
        for (const std::string& version : gone) {
            changes.push_back({key.first, key.second, version, ""});
        }
        for (const std::string& version : came) {
            changes.push_back({key.first, key.second, "", version});
        }
    }
    return changes;
}

}  // namespace edgegpu
