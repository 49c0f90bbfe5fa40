#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/metadata.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// One modulemd document: a stream in one version and context.
struct ModuleStream {
    ResolvedModule id;
    std::string arch;
    /// "name-epoch:version-release.arch", epoch always written
    std::vector<std::string> artifacts;
    /// profile → package names
    std::map<std::string, std::vector<std::string>> profiles;
    /// alternatives of: module → allowed streams (empty: any; "-x": any but x)
    std::vector<std::map<std::string, std::vector<std::string>>> dependencies;

    /// "name:stream:version:context"
    [[nodiscard]] std::string text() const;
};

/// What all repositories together say about modules.
struct ModuleCatalogue {
    std::vector<ModuleStream> streams;
    /// module → default stream
    std::map<std::string, std::string> defaults;

    [[nodiscard]] bool has_module(const std::string& name) const;
    /// Stream names of a module, sorted, each once.
    [[nodiscard]] std::vector<std::string> stream_names(const std::string& name) const;
};

/// A stream to enable; `version` prefers documents that hold an artifact of that version.
struct StreamRequest {
    std::string name;
    std::string stream;
    std::string version;
    SourceLocation location;
};

/// The enabled streams and what they do to the set of available packages.
struct ModuleSelection {
    /// sorted by name
    std::vector<ModuleStream> enabled;
    /// artifacts of enabled streams → "name:stream:version:context"
    std::map<std::string, std::string> included;
    /// artifacts of streams that are not enabled
    std::set<std::string> excluded;
    /// names of the included artifacts: packages outside modules that have or provide one of these
    /// names are hidden
    std::set<std::string> names;

    [[nodiscard]] const ModuleStream* find(const std::string& module) const;
};

/// Adds the modulemd documents (YAML) of one repository for `architecture`; `priority` as in dnf.
/// Throws ErrorKind::fetch naming `origin` if the YAML cannot be parsed.
class ModuleReader {
public:
    explicit ModuleReader(std::string architecture) : architecture_(std::move(architecture)) {}
    void add(const std::string& yaml, const std::string& origin, int priority);
    [[nodiscard]] ModuleCatalogue take() { return std::move(catalogue_); }

private:
    std::string architecture_;
    ModuleCatalogue catalogue_;
    std::map<std::string, int> default_priority_;
};

/// Reads the modules of all repositories.
[[nodiscard]] ModuleCatalogue read_modules(const std::vector<RepositoryMetadata>& repositories,
                                           const std::string& architecture);

/// Enables the requested streams, the default streams of other modules, and what they depend on.
/// Throws ErrorKind::unsolvable for unknown modules and streams (listing those there are) and for
/// streams that contradict one another.
[[nodiscard]] ModuleSelection select_modules(const ModuleCatalogue& catalogue,
                                             const std::vector<StreamRequest>& requests);

}  // namespace edgegpu
