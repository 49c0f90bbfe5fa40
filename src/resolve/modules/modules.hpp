#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/module_spec.hpp"
#include "resolve/metadata/metadata.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// A modulemd document: one version and context of a module stream.
struct ModuleStream {
    ResolvedModule id;
    std::string arch;
    /// "name-epoch:version-release.arch"; the epoch is never omitted.
    std::vector<std::string> artifacts;
    /// Package names that no longer belong to the module: non-modular packages of that name are
    /// visible.
    std::vector<std::string> demodularized;
    /// Profile → package names.
    std::map<std::string, std::vector<std::string>> profiles;
    /// Sets of dependencies: module → allowed streams (empty: any; "-x": any except x).
    std::vector<std::map<std::string, std::vector<std::string>>> dependencies;

    /// "name:stream:version:context"
    [[nodiscard]] std::string text() const;
};

/// A document of modules.yaml that cannot be read and is ignored, as in dnf. Fields contain what
/// could be extracted from it, and are empty otherwise.
struct LostDocument {
    enum class Kind : std::uint8_t {
        stream,
        defaults,
        other  ///< translations, obsoletes, unknown types: they do not affect packages
    };
    Kind kind = Kind::other;
    std::string repository;
    /// First line in the decompressed modules.yaml (1-based).
    std::size_t line = 0;
    /// libmodulemd's message.
    std::string cause;
    ResolvedModule id;
    std::string arch;
    /// As ModuleStream::artifacts.
    std::vector<std::string> artifacts;

    /// "repository 'r', modules.yaml line 7: the document of module m:1 cannot be read: …"
    [[nodiscard]] std::string text() const;
};

/// Module → stream → profiles that are installed if none is requested.
using DefaultProfiles = std::map<std::string, std::map<std::string, std::vector<std::string>>>;

/// The modules of all repositories.
struct ModuleCatalogue {
    std::vector<ModuleStream> streams;
    /// Module → default stream.
    std::map<std::string, std::string> defaults;
    DefaultProfiles default_profiles;
    std::vector<LostDocument> lost;
    /// Warnings about the repositories' documents, one line each.
    std::vector<std::string> warnings;
    /// The image's stream of the module "platform", "el9"; empty: every requested stream is
    /// provided.
    std::string platform;

    [[nodiscard]] bool has_module(const std::string& name) const;
    /// Stream names of a module, sorted, unique.
    [[nodiscard]] std::vector<std::string> stream_names(const std::string& name) const;
};

/// A stream to enable. With `version`, documents that have an artifact of that version are
/// preferred.
struct StreamRequest {
    std::string name;
    std::string stream;
    std::string version;
    SourceLocation location;
};

/// The enabled streams and their effect on the available packages.
struct ModuleSelection {
    /// The newest document of each enabled stream, sorted by name.
    std::vector<ModuleStream> enabled;
    /// All documents whose artifacts are available: `enabled`, and older versions of the same
    /// streams and contexts.
    std::vector<ModuleStream> active;
    DefaultProfiles default_profiles;
    /// Artifacts of active documents → "name:stream:version:context".
    std::map<std::string, std::string> included;
    /// Artifacts of streams that are not enabled.
    std::set<std::string> excluded;
    /// Names of the included artifacts: non-modular packages that have or provide one of these
    /// names are hidden.
    std::set<std::string> names;

    /// The enabled stream of a module, or nullptr.
    [[nodiscard]] const ModuleStream* find(const std::string& module) const;
};

/// Whether `spec` matches the document.
[[nodiscard]] bool matches(const ModuleSpec& spec, const ModuleStream& document);

/// Reads the modulemd documents (YAML) of repositories. Documents that cannot be read are listed in
/// ModuleCatalogue::lost.
class ModuleReader {
public:
    explicit ModuleReader(std::string architecture) : architecture_(std::move(architecture)) {}
    /// Adds the documents of the repository `origin`. Throws ErrorKind::fetch naming it if the text
    /// is not YAML.
    void add(const std::string& yaml, const std::string& origin);
    /// The catalogue of all documents added so far; call it once.
    [[nodiscard]] ModuleCatalogue take();

private:
    void add_defaults(void* index, const std::string& origin);

    std::string architecture_;
    ModuleCatalogue catalogue_;
    /// libmodulemd's merged index of all repositories so far; null if they contradict each other.
    std::shared_ptr<void> united_;
    bool contradictory_ = false;
};

/// Reads the modules of all repositories.
[[nodiscard]] ModuleCatalogue read_modules(const std::vector<RepositoryMetadata>& repositories,
                                           const std::string& architecture);

/// Whether `document` is active if `newest` is enabled: same stream and context, not newer.
[[nodiscard]] bool is_part_of(const ModuleStream& document, const ModuleStream& newest);

/// A distribution's stream of "platform" ("rhel-9.4": "el9", "fedora-40": "f40"); empty for an
/// empty `distro`.
[[nodiscard]] std::string platform_of(const std::string& distro);

/// Enables the requested streams, the default streams of other modules, and their dependencies, as
/// dnf does; libsolv chooses among alternatives. Throws ErrorKind::unsolvable for unknown modules
/// and streams (with suggestions), for conflicting streams, and if the document of a requested
/// stream is lost.
[[nodiscard]] ModuleSelection select_modules(const ModuleCatalogue& catalogue,
                                             const std::vector<StreamRequest>& requests);

}  // namespace edgegpu
