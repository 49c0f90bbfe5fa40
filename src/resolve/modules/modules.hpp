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

/// One modulemd document: a stream in one version and context.
struct ModuleStream {
    ResolvedModule id;
    std::string arch;
    /// "name-epoch:version-release.arch", epoch always written
    std::vector<std::string> artifacts;
    /// names that are no part of the module any more: packages outside modules show themselves
    std::vector<std::string> demodularized;
    /// profile → package names
    std::map<std::string, std::vector<std::string>> profiles;
    /// alternatives of: module → allowed streams (empty: any; "-x": any but x)
    std::vector<std::map<std::string, std::vector<std::string>>> dependencies;

    /// "name:stream:version:context"
    [[nodiscard]] std::string text() const;
};

/// A document of modules.yaml that could not be read and was left out, as dnf leaves it out. What
/// it says is told as far as it can be made out; empty otherwise.
struct LostDocument {
    enum class Kind : std::uint8_t {
        stream,
        defaults,
        other  ///< translations, obsoletes, a type that nobody knows: no package depends on it
    };
    Kind kind = Kind::other;
    std::string repository;
    /// line of modules.yaml, uncompressed, on which it begins (1-based)
    std::size_t line = 0;
    /// libmodulemd's words
    std::string cause;
    ResolvedModule id;
    std::string arch;
    /// as ModuleStream::artifacts
    std::vector<std::string> artifacts;

    /// "repository 'r', modules.yaml line 7: the document of module m:1 cannot be read: …"
    [[nodiscard]] std::string text() const;
};

/// module → stream → names of the profiles that are installed where none is asked for
using DefaultProfiles = std::map<std::string, std::map<std::string, std::vector<std::string>>>;

/// What all repositories together say about modules.
struct ModuleCatalogue {
    std::vector<ModuleStream> streams;
    /// module → default stream
    std::map<std::string, std::string> defaults;
    DefaultProfiles default_profiles;
    std::vector<LostDocument> lost;
    /// What else the user should know of the repositories' documents, a line each.
    std::vector<std::string> warnings;
    /// The stream of the module "platform" that the image is: "el9"; empty: any that is asked for.
    std::string platform;

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
    /// sorted by name; of each stream the newest document
    std::vector<ModuleStream> enabled;
    /// All documents whose artifacts are included: those of `enabled`, and older versions of the
    /// same streams and contexts.
    std::vector<ModuleStream> active;
    DefaultProfiles default_profiles;
    /// artifacts of enabled streams → "name:stream:version:context"
    std::map<std::string, std::string> included;
    /// artifacts of streams that are not enabled
    std::set<std::string> excluded;
    /// names of the included artifacts: packages outside modules that have or provide one of these
    /// names are hidden
    std::set<std::string> names;

    [[nodiscard]] const ModuleStream* find(const std::string& module) const;
};

/// Whether `spec` means the document.
[[nodiscard]] bool matches(const ModuleSpec& spec, const ModuleStream& document);

/// Reads the modulemd documents (YAML) of repositories. A document that cannot be read is listed in
/// ModuleCatalogue::lost.
class ModuleReader {
public:
    explicit ModuleReader(std::string architecture) : architecture_(std::move(architecture)) {}
    /// Adds the documents of one repository, `origin`. Throws ErrorKind::fetch naming it where its
    /// text is no YAML.
    void add(const std::string& yaml, const std::string& origin);
    [[nodiscard]] ModuleCatalogue take();

private:
    void add_defaults(void* index, const std::string& origin);

    std::string architecture_;
    ModuleCatalogue catalogue_;
    /// libmodulemd's index of all repositories so far; null where they contradict one another
    std::shared_ptr<void> united_;
    bool contradictory_ = false;
};

/// Reads the modules of all repositories.
[[nodiscard]] ModuleCatalogue read_modules(const std::vector<RepositoryMetadata>& repositories,
                                           const std::string& architecture);

/// Whether `document` is active where `newest` is enabled: the same stream and context, no newer.
[[nodiscard]] bool is_part_of(const ModuleStream& document, const ModuleStream& newest);

/// The stream of "platform" of a distribution ("rhel-9.4": "el9", "fedora-40": "f40"); empty where
/// it has none.
[[nodiscard]] std::string platform_of(const std::string& distro);

/// Enables the requested streams, the default streams of other modules, and what they depend on, as
/// dnf does: of several that would do libsolv chooses. Throws ErrorKind::unsolvable for unknown
/// modules and streams (listing those there are), for streams that contradict one another, and
/// where a document that was lost is what was asked for.
[[nodiscard]] ModuleSelection select_modules(const ModuleCatalogue& catalogue,
                                             const std::vector<StreamRequest>& requests);

}  // namespace edgegpu
