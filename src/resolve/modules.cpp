#include "resolve/modules.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "support/error.hpp"

namespace edgegpu {

namespace {

std::uint64_t number(const std::string& text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Whether `stream` is allowed by modulemd's list: empty is any, "-x" is any but x.
bool allows(const std::vector<std::string>& allowed, const std::string& stream) {
    const std::string negated = "-" + stream;
    bool only_negations = true;
    for (const std::string& entry : allowed) {
        if (entry == stream) {
            return true;
        }
        if (entry == negated) {
            return false;
        }
        only_negations = only_negations && entry.starts_with('-');
    }
    return only_negations;
}

bool has_version(const ModuleStream& stream, const std::string& version) {
    return version.empty() ||
           std::any_of(stream.artifacts.begin(), stream.artifacts.end(), [&](const auto& nevra) {
               return nevra.find(":" + version + "-") != std::string::npos;
           });
}

Error unknown_stream(const ModuleCatalogue& catalogue, const StreamRequest& request) {
    const std::vector<std::string> streams = catalogue.stream_names(request.name);
    if (streams.empty()) {
        std::vector<std::string> modules;
        for (const ModuleStream& stream : catalogue.streams) {
            modules.push_back(stream.id.name);
        }
        Error failure =
            error(ErrorKind::unsolvable, "no repository has a module '{}'", request.name);
        const std::vector<std::string> near = nearest_names(request.name, modules, 3);
        if (!near.empty()) {
            failure.hinted(fmt::format("did you mean {}?", fmt::join(near, ", ")));
        }
        return failure;
    }
    return error(ErrorKind::unsolvable, "module '{}' has no stream '{}'", request.name,
                 request.stream)
        .hinted(fmt::format("its streams: {}", fmt::join(streams, ", ")));
}

/// Grows a consistent set of streams, one module after the other.
class Selector {
public:
    Selector(const ModuleCatalogue& catalogue, const std::vector<StreamRequest>& requests)
        : catalogue_(catalogue) {
        for (const StreamRequest& request : requests) {
            wanted_[request.name] = request.stream;
        }
    }

    /// Enables the newest document that fits what is enabled already; false if none does.
    bool enable(const std::string& name, const std::string& stream, const std::string& version) {
        if (const auto known = enabled_.find(name); known != enabled_.end()) {
            return known->second->id.stream == stream;
        }
        for (const ModuleStream* candidate : documents(name, stream, version)) {
            const auto before = enabled_;
            enabled_[name] = candidate;
            if (enable_dependencies(*candidate)) {
                return true;
            }
            enabled_ = before;
        }
        return false;
    }

    [[nodiscard]] const std::map<std::string, const ModuleStream*>& enabled() const {
        return enabled_;
    }

private:
    /// Documents of a stream, best first: holding the wanted version, then newest.
    std::vector<const ModuleStream*> documents(const std::string& name, const std::string& stream,
                                               const std::string& version) const {
        std::vector<const ModuleStream*> found;
        for (const ModuleStream& candidate : catalogue_.streams) {
            if (candidate.id.name == name && candidate.id.stream == stream) {
                found.push_back(&candidate);
            }
        }
        std::sort(found.begin(), found.end(), [&](const auto* left, const auto* right) {
            const auto key = [&](const ModuleStream* item) {
                return std::make_tuple(has_version(*item, version), number(item->id.version),
                                       item->id.context);
            };
            return key(left) > key(right);
        });
        return found;
    }

    bool enable_dependencies(const ModuleStream& stream) {
        if (stream.dependencies.empty()) {
            return true;
        }
        return std::any_of(stream.dependencies.begin(), stream.dependencies.end(),
                           [&](const auto& needed) {
                               const auto before = enabled_;
                               if (enable_all(needed)) {
                                   return true;
                               }
                               enabled_ = before;
                               return false;
                           });
    }

    bool enable_all(const std::map<std::string, std::vector<std::string>>& needed) {
        return std::all_of(needed.begin(), needed.end(), [&](const auto& entry) {
            // A repository carries modules for its own platform only.
            return entry.first == "platform" || enable_one_of(entry.first, entry.second);
        });
    }

    bool enable_one_of(const std::string& module, const std::vector<std::string>& allowed) {
        if (const auto known = enabled_.find(module); known != enabled_.end()) {
            return allows(allowed, known->second->id.stream);
        }
        if (const auto wanted = wanted_.find(module); wanted != wanted_.end()) {
            return allows(allowed, wanted->second) && enable(module, wanted->second, "");
        }
        const auto preset = catalogue_.defaults.find(module);
        if (preset != catalogue_.defaults.end() && allows(allowed, preset->second) &&
            enable(module, preset->second, "")) {
            return true;
        }
        const std::vector<std::string> streams = catalogue_.stream_names(module);
        return std::any_of(streams.begin(), streams.end(), [&](const std::string& stream) {
            return allows(allowed, stream) && enable(module, stream, "");
        });
    }

    const ModuleCatalogue& catalogue_;
    std::map<std::string, std::string> wanted_;
    std::map<std::string, const ModuleStream*> enabled_;
};

std::string artifact_name(const std::string& nevra) {
    const std::size_t release = nevra.rfind('-');
    const std::size_t version =
        release == std::string::npos ? release : nevra.rfind('-', release - 1);
    return nevra.substr(0, version);
}

bool is_source(const std::string& nevra) {
    return nevra.ends_with(".src") || nevra.ends_with(".nosrc");
}

}  // namespace

std::string ModuleStream::text() const {
    return fmt::format("{}:{}:{}:{}", id.name, id.stream, id.version, id.context);
}

bool ModuleCatalogue::has_module(const std::string& name) const {
    return std::any_of(streams.begin(), streams.end(),
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

ModuleSelection select_modules(const ModuleCatalogue& catalogue,
                               const std::vector<StreamRequest>& requests) {
    Selector selector(catalogue, requests);
    for (const StreamRequest& request : requests) {
        const std::vector<std::string> streams = catalogue.stream_names(request.name);
        const std::string where = fmt::format("requested at {}", request.location.text());
        if (std::find(streams.begin(), streams.end(), request.stream) == streams.end()) {
            throw unknown_stream(catalogue, request).traced(where);
        }
        if (!selector.enable(request.name, request.stream, request.version)) {
            throw error(ErrorKind::unsolvable,
                        "module {}:{} cannot be enabled together with the other streams",
                        request.name, request.stream)
                .traced(where);
        }
    }
    for (const auto& [module, stream] : catalogue.defaults) {
        if (!stream.empty() && !selector.enabled().contains(module)) {
            // A default that does not fit the requested streams stays off, as in dnf.
            selector.enable(module, stream, "");
        }
    }
    ModuleSelection selection;
    for (const auto& [name, stream] : selector.enabled()) {
        selection.enabled.push_back(*stream);
        for (const std::string& artifact : stream->artifacts) {
            selection.included[artifact] = stream->text();
            if (!is_source(artifact)) {
                selection.names.insert(artifact_name(artifact));
            }
        }
    }
    for (const ModuleStream& stream : catalogue.streams) {
        for (const std::string& artifact : stream.artifacts) {
            if (!selection.included.contains(artifact)) {
                selection.excluded.insert(artifact);
            }
        }
    }
    return selection;
}

}  // namespace edgegpu
