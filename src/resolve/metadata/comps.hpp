#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace edgegpu {

/// A package group of comps.xml.
struct PackageGroup {
    std::vector<std::string> mandatory;
    std::vector<std::string> standard;
    std::vector<std::string> optional;
    /// Package → package whose installation it depends on.
    std::vector<std::pair<std::string, std::string>> conditional;
};

/// Groups and environments of all repositories; definitions of the same group are merged.
struct Comps {
    std::map<std::string, PackageGroup> groups;
    /// Environment → ids of its groups, without optional ones.
    std::map<std::string, std::vector<std::string>> environments;
};

/// Adds a comps.xml document. Throws ErrorKind::fetch naming `origin` if it cannot be parsed.
void add_comps(Comps& comps, const std::string& xml, const std::string& origin);

}  // namespace edgegpu
