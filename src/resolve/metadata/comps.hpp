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
    /// package, and the package that must be installed for it
    std::vector<std::pair<std::string, std::string>> conditional;
};

/// The groups and environments of all repositories; a group that several repositories have is the
/// union of theirs.
struct Comps {
    std::map<std::string, PackageGroup> groups;
    /// environment → ids of its groups (not those that are optional)
    std::map<std::string, std::vector<std::string>> environments;
};

/// Adds a comps.xml document. Throws ErrorKind::fetch naming `origin` if it cannot be parsed.
void add_comps(Comps& comps, const std::string& xml, const std::string& origin);

}  // namespace edgegpu
