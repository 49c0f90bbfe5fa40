#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "blueprint/module_spec.hpp"
#include "resolve/gpu/nvidia.hpp"
#include "resolve/search/universe.hpp"
#include "support/ranges.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

/// Collects one stream per module; a second one is an error that names both locations.
class StreamCollector {
public:
    explicit StreamCollector(const ModuleCatalogue& catalogue) : catalogue_(catalogue) {}

    void add(StreamRequest request) {
        const StreamRequest* earlier = find(request.name);
        if (earlier == nullptr) {
            requests_.push_back(std::move(request));
            return;
        }
        if (earlier->stream != request.stream) {
            throw error(ErrorKind::usage,
                        "two streams of module {}: {} requests {}, {} requests {}", request.name,
                        earlier->location.text(), earlier->stream, request.location.text(),
                        request.stream)
                .hinted("one stream of a module can be enabled: leave one out");
        }
    }

    /// Adds the driver's stream, which prefers documents with the requested version.
    void add_driver(const StreamRequest& driver) {
        for (StreamRequest& request : requests_) {
            if (request.name == driver.name) {
                refuse_other_driver(request, driver);
                request.version = driver.version;
                return;
            }
        }
        requests_.push_back(driver);
    }

    /// Adds the streams that "@SPEC" enables if it matches modules: of each module the matching
    /// stream; if several match, the one that is already enabled or the default, as in dnf.
    void add_spec(const std::string& text, const SourceLocation& location,
                  const StreamRequest* driver) {
        const auto spec = parse_module_spec(text);
        if (!spec) {
            return;
        }
        std::map<std::string, std::set<std::string>> found;
        for (const ModuleStream& document : catalogue_.streams) {
            if (matches(*spec, document)) {
                found[document.id.name].insert(document.id.stream);
            }
        }
        if (found.empty() && spec->exact() &&
            (spec->version + spec->context + spec->arch).empty()) {
            // It cannot be a group: select_modules reports what is wrong with it.
            add({spec->name, spec->stream, "", location});
        }
        for (const auto& [module, streams] : found) {
            StreamRequest request{module, one_of(text, module, streams, location), "", location};
            if (driver != nullptr && driver->name == module) {
                refuse_other_driver(request, *driver);
            }
            add(std::move(request));
        }
    }

    [[nodiscard]] std::vector<StreamRequest> take() { return std::move(requests_); }

private:
    [[nodiscard]] const StreamRequest* find(const std::string& module) const {
        const auto found = std::ranges::find_if(
            requests_, [&](const StreamRequest& known) { return known.name == module; });
        return found == requests_.end() ? nullptr : &*found;
    }

    static void refuse_other_driver(const StreamRequest& request, const StreamRequest& driver) {
        if (request.stream != driver.stream) {
            throw error(
                ErrorKind::usage, "{}: module {}:{} contradicts [nvidia], which needs {}:{}",
                request.location.text(), request.name, request.stream, driver.name, driver.stream)
                .hinted("leave the module out: [nvidia] enables it");
        }
    }

    [[nodiscard]] std::string one_of(const std::string& text, const std::string& module,
                                     const std::set<std::string>& streams,
                                     const SourceLocation& location) const {
        if (streams.size() == 1) {
            return *streams.begin();
        }
        const StreamRequest* earlier = find(module);
        const auto preset = catalogue_.defaults.find(module);
        std::string stream = earlier != nullptr                    ? earlier->stream
                             : preset != catalogue_.defaults.end() ? preset->second
                                                                   : "";
        if (streams.contains(stream)) {
            return stream;
        }
        throw ambiguous(text, module, streams, location);
    }

    [[nodiscard]] Error ambiguous(const std::string& text, const std::string& module,
                                  const std::set<std::string>& streams,
                                  const SourceLocation& location) const {
        Error failure = error(
            ErrorKind::unsolvable,
            "'@{}' matches {} streams of module '{}', of which none is enabled or the default",
            text, streams.size(), module);
        for (const LostDocument& lost : catalogue_.lost) {
            if (lost.kind == LostDocument::Kind::defaults && lost.id.name == module) {
                failure.traced(lost.text());
            }
        }
        const std::vector<std::string> texts = mapped(streams, [&](const std::string& stream) {
            return fmt::format("@{}:{}", module, stream);
        });
        return failure.traced(fmt::format("requested at {}", location.text()))
            .hinted(fmt::format("name one: {}", fmt::join(texts, ", ")));
    }

    const ModuleCatalogue& catalogue_;
    std::vector<StreamRequest> requests_;
};

}  // namespace

std::vector<StreamRequest> stream_requests(const Blueprint& blueprint,
                                           const ModuleCatalogue& catalogue) {
    StreamCollector collector(catalogue);
    for (const ModuleRequest& module : blueprint.modules) {
        const auto preset = catalogue.defaults.find(module.name);
        const std::string stream = module.stream.empty() && preset != catalogue.defaults.end()
                                       ? preset->second
                                       : module.stream;
        collector.add({module.name, stream, "", module.location});
    }
    const std::optional<StreamRequest> driver =
        blueprint.nvidia ? driver_stream(*blueprint.nvidia, catalogue) : std::nullopt;
    if (driver) {
        collector.add_driver(*driver);
    }
    for (const PackageRequest& group : blueprint.groups) {
        collector.add_spec(group.spec.starts_with('@') ? group.spec.substr(1) : group.spec,
                           group.location, driver ? &*driver : nullptr);
    }
    return collector.take();
}

}  // namespace edgegpu
