#include "resolve/modules/modules.hpp"

#include <algorithm>

#include "resolve/modules/modules_lost.hpp"

namespace edgegpu {

std::string ModuleStream::text() const {
    return fmt::format("{}:{}:{}:{}", id.name, id.stream, id.version, id.context);
}

bool ModuleCatalogue::has_module(const std::string& name) const {
    return std::ranges::any_of(streams,
                               [&](const ModuleStream& stream) { return stream.id.name == name; });
}

std::vector<std::string> ModuleCatalogue::stream_names(const std::string& name) const {
    std::set<std::string> names;
    for (const ModuleStream& stream : streams) {
        if (stream.id.name == name) {
            names.insert(stream.id.stream);
        }
    }
    return {names.begin(), names.end()};
}

const ModuleStream* ModuleSelection::find(const std::string& module) const {
    for (const ModuleStream& stream : enabled) {
        if (stream.id.name == module) {
            return &stream;
        }
    }
    return nullptr;
}

bool matches(const ModuleSpec& spec, const ModuleStream& document) {
    return glob_or_any(spec.name, document.id.name) &&
           glob_or_any(spec.stream, document.id.stream) &&
           glob_or_any(spec.version, document.id.version) &&
           glob_or_any(spec.context, document.id.context) && glob_or_any(spec.arch, document.arch);
}

bool is_part_of(const ModuleStream& document, const ModuleStream& newest) {
    return document.id.name == newest.id.name && document.id.stream == newest.id.stream &&
           document.id.context == newest.id.context &&
           document_version(document.id.version) <= document_version(newest.id.version);
}

std::string platform_of(const std::string& distro) {
    const std::size_t dash = distro.rfind('-');
    if (dash == std::string::npos) {
        return {};
    }
    const std::string version = distro.substr(dash + 1);
    const std::string major = version.substr(0, version.find('.'));
    return (distro.starts_with("fedora-") ? "f" : "el") + major;
}

}  // namespace edgegpu
