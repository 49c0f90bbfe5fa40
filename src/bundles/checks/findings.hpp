#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/toml/mistakes.hpp"
#include "bundles/render.hpp"
#include "yaml/yaml.hpp"

namespace edgegpu {

/// What the checks find wrong with objects, each with its place in a file of the bundle.
class Findings {
public:
    explicit Findings(Mistakes& mistakes) : mistakes_(mistakes) {}

    /// Something at `pointer` of the object (a JSON pointer, RFC 6901: "/spec/template/spec";
    /// empty: the object itself). The message gets the object's title, and the place in the
    /// bundle's own file if there is a document of the same kind and name: kustomize may have
    /// changed the name or made the object itself. Of several documents (patches have the same kind
    /// and name) it is the first that has most of `pointer`; what is beyond that is placed where it
    /// ends.
    void add(const BundleObject& where, std::string_view pointer, const std::string& message,
             const std::string& hint);

private:
    /// A file of a bundle that has been read; empty if it is not YAML.
    const std::vector<YamlNode>& documents_of(const BundleFiles& files, const std::string& file);

    Mistakes& mistakes_;
    std::map<std::string, std::vector<YamlNode>> documents_;
};

}  // namespace edgegpu
