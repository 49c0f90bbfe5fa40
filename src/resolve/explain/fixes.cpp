#include "resolve/explain/fixes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/module_spec.hpp"
#include "resolve/gpu/dkms.hpp"
#include "resolve/gpu/nvidia.hpp"
#include "resolve/solve/filtered.hpp"
#include "resolve/solve/requests.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

std::string blueprint_file(const Blueprint& blueprint) {
    const std::string& shown = blueprint.ostree.location.file;
    return shown.empty() ? blueprint.path.string() : shown;
}

/// Collects changes that keep everything that was requested, followed by those that drop a request.
class FixFinder {
public:
    FixFinder(const Failed& failed, BlueprintText& text)
        : failed_(failed),
          pool_(failed.universe.pool()),
          blueprint_(failed.blueprint),
          text_(text) {}

    std::vector<Fix> run() {
        for (std::size_t i = 0; i < blueprint_.packages.size(); ++i) {
            unmatched_package(i);
        }
        unknown_groups();
        modules();
        for (std::size_t i = 0; i < failed_.cause.filtered.size() && i < 3; ++i) {
            show(failed_.cause.filtered[i]);
        }
        compilers();
        for (const Origin& origin : failed_.cause.origins) {
            loosen(origin);
        }
        std::vector<Fix> gpu = possible_gpu_fixes(failed_, text_);
        std::move(gpu.begin(), gpu.end(), std::back_inserter(keeping_));
        std::move(dropping_.begin(), dropping_.end(), std::back_inserter(keeping_));
        return std::move(keeping_);
    }

private:
    Fix& keep(Edit edit) {
        keeping_.push_back({{std::move(edit)}, blueprint_, ""});
        return keeping_.back();
    }
    Fix& drop(Edit edit) {
        dropping_.push_back({{std::move(edit)}, blueprint_, ""});
        return dropping_.back();
    }

    /// All lines of a request, which only help if they change together.
    static std::vector<SourceLocation> lines_of_request(const PackageRequest& request) {
        std::vector<SourceLocation> lines{request.location};
        lines.insert(lines.end(), request.repeated.begin(), request.repeated.end());
        return lines;
    }

    void drop_package(std::size_t index) {
        const PackageRequest& request = blueprint_.packages[index];
        Fix fix{{}, blueprint_, ""};
        for (const SourceLocation& line : lines_of_request(request)) {
            fix.edits.push_back(text_.remove_table(line, "name = " + toml_string(request.spec)));
        }
        fix.changed.packages.erase(fix.changed.packages.begin() +
                                   static_cast<std::ptrdiff_t>(index));
        dropping_.push_back(std::move(fix));
    }

    /// Sets `key` in all lines of a request, whose spec becomes `spec`.
    void change_package(std::size_t index, const std::string& key, const std::string& old,
                        const std::string& value, const std::string& spec) {
        Fix fix{{}, blueprint_, ""};
        for (const SourceLocation& line : lines_of_request(blueprint_.packages[index])) {
            fix.edits.push_back(text_.set_key(line, key, toml_string(old), toml_string(value)));
        }
        fix.changed.packages[index].spec = spec;
        keeping_.push_back(std::move(fix));
    }

    /// The name in a spec "name-version", the longest one that a package has; empty if the spec has
    /// no version, which begins with a digit or a glob.
    [[nodiscard]] std::string pinned_name(const std::string& spec) const {
        std::string best;
        for (const Id id : pool_.packages()) {
            const char* name = pool_id2str(pool_.get(), pool_.solvable(id)->name);
            const std::size_t length = std::char_traits<char>::length(name);
            if (length > best.size() && length + 1 < spec.size() && spec[length] == '-' &&
                std::string_view("0123456789*?[").find(spec[length + 1]) !=
                    std::string_view::npos &&
                spec.compare(0, length, name) == 0) {
                best = name;
            }
        }
        return best;
    }

    /// Changes the version of a pinned package; "*" allows any.
    void set_version(std::size_t index, const std::string& name, const std::string& version) {
        const std::string old = blueprint_.packages[index].spec.substr(name.size() + 1);
        change_package(index, "version", old, version,
                       version == "*" ? name : name + "-" + version);
    }

    void unmatched_package(std::size_t index) {
        const PackageRequest& request = blueprint_.packages[index];
        if (request.spec.starts_with('@') || !match_spec(pool_, request.spec).empty()) {
            return;
        }
        const std::vector<Id> hidden = hidden_matches(pool_, request.spec);
        for (std::size_t i = 0; i < hidden.size() && i < 3; ++i) {
            show(hidden[i]);
        }
        const std::string name = pinned_name(request.spec);
        if (!name.empty()) {
            const std::vector<Id> versions = pool_.named(name);
            if (!versions.empty()) {
                set_version(index, name, pool_.version(versions.front()));
            }
        }
        std::vector<std::string> others = mapped(packages_with_program(pool_, request.spec),
                                                 [](const auto& entry) { return entry.first; });
        if (others.empty()) {
            others = nearest_names(request.spec, pool_.visible_names(), 3);
        }
        for (const std::string& other : others) {
            change_package(index, "name", request.spec, other, other);
        }
        drop_package(index);
    }

    void unknown_groups() {
        const Comps& comps = failed_.universe.comps();
        std::vector<std::string> ids = keys_of(comps.groups);
        for (const auto& entry : comps.environments) {
            ids.push_back(entry.first);
        }
        for (std::size_t i = 0; i < blueprint_.groups.size(); ++i) {
            const PackageRequest& request = blueprint_.groups[i];
            const std::string id =
                request.spec.starts_with('@') ? request.spec.substr(1) : request.spec;
            if (std::ranges::find(ids, id) != ids.end() || means_module(id)) {
                continue;
            }
            for (const std::string& near : nearest_names(id, ids, 2)) {
                set_group(i, "@" + near);
            }
            drop_group(i);
        }
    }

    [[nodiscard]] bool means_module(const std::string& id) const {
        const auto spec = parse_module_spec(id);
        const std::vector<ModuleStream>& streams = failed_.universe.catalogue().streams;
        return spec && std::ranges::any_of(streams, [&](const ModuleStream& stream) {
                   return glob_or_any(spec->name, stream.id.name);
               });
    }

    /// Groups with "@" have the same form in all tables.
    void set_group(std::size_t index, const std::string& spec) {
        const PackageRequest& request = blueprint_.groups[index];
        Fix& fix = keep(
            text_.set_key(request.location, "name", toml_string(request.spec), toml_string(spec)));
        fix.changed.groups[index].spec = spec;
    }

    /// Replaces "@MODULE:STREAM" by the module's other streams, newest first.
    void other_group_streams(std::size_t index) {
        const auto spec = parse_module_spec(blueprint_.groups[index].spec.substr(1));
        const ModuleCatalogue& catalogue = failed_.universe.catalogue();
        if (!spec || !catalogue.has_module(spec->name)) {
            return;
        }
        const std::string profile = spec->profile.empty() ? "" : "/" + spec->profile;
        std::vector<std::string> streams = catalogue.stream_names(spec->name);
        std::ranges::reverse(streams);
        for (const std::string& stream : streams) {
            if (stream != spec->stream) {
                set_group(index, fmt::format("@{}:{}{}", spec->name, stream, profile));
            }
        }
        drop_group(index);
    }

    /// For kernel modules to be compiled: makes filtered build tools visible.
    void compilers() {
        if (!blueprint_.nvidia || blueprint_.nvidia->modules == DriverModules::precompiled ||
            failed_.outcome.refused) {
            return;
        }
        for (const Id id : hidden_build_tools(pool_, blueprint_.kernel.name)) {
            show(id);
        }
    }

    void drop_group(std::size_t index) {
        const PackageRequest& request = blueprint_.groups[index];
        Fix& fix =
            drop(text_.remove_table(request.location, "name = " + toml_string(request.spec)));
        fix.changed.groups.erase(fix.changed.groups.begin() + static_cast<std::ptrdiff_t>(index));
    }

    /// For module streams that could not be enabled: then nothing was filtered, and there is no
    /// cause.
    void modules() {
        if (!failed_.outcome.modules.enabled.empty() || !failed_.cause.message.empty()) {
            return;
        }
        for (std::size_t i = 0; i < blueprint_.modules.size(); ++i) {
            other_streams(i);
        }
        for (std::size_t i = 0; i < blueprint_.groups.size(); ++i) {
            other_group_streams(i);
        }
    }

    void other_streams(std::size_t index) {
        const ModuleRequest& request = blueprint_.modules[index];
        const ModuleCatalogue& catalogue = failed_.universe.catalogue();
        std::vector<std::string> streams = catalogue.stream_names(request.name);
        // Highest number first: newer streams are supported longer.
        std::ranges::reverse(streams);
        for (const std::string& stream : streams) {
            if (stream != request.stream) {
                set_stream(index, stream);
            }
        }
        if (streams.empty()) {
            auto names = mapped_to<std::set<std::string>>(
                catalogue.streams, [](const ModuleStream& stream) { return stream.id.name; });
            for (const std::string& near :
                 nearest_names(request.name, {names.begin(), names.end()}, 2)) {
                Fix& fix = keep(text_.set_key(request.location, "name", toml_string(request.name),
                                              toml_string(near)));
                fix.changed.modules[index].name = near;
            }
        }
        drop_module(index);
    }

    void drop_module(std::size_t index) {
        const ModuleRequest& request = blueprint_.modules[index];
        Fix& fix = drop(text_.remove_table(request.location,
                                           fmt::format("{}:{}", request.name, request.stream)));
        fix.changed.modules.erase(fix.changed.modules.begin() + static_cast<std::ptrdiff_t>(index));
    }

    void set_stream(std::size_t index, const std::string& stream) {
        const ModuleRequest& request = blueprint_.modules[index];
        Fix& fix = keep(text_.set_key(request.location, "stream", toml_string(request.stream),
                                      toml_string(stream)));
        fix.changed.modules[index].stream = stream;
    }

    /// Makes a filtered package visible, depending on why it is hidden.
    void show(Id id) {
        switch (pool_.hidden(id)) {
            case Hidden::excluded:
                show_excluded(id);
                break;
            case Hidden::module:
                show_modular(id);
                break;
            case Hidden::repository:
                enable_repository(pool_.solvable(id)->repo->name);
                break;
            case Hidden::architecture:
            case Hidden::locked:
            case Hidden::no:
                break;
        }
    }

    void show_excluded(Id id) {
        const SourceLocation top{blueprint_file(blueprint_), 0, 0};
        for (std::size_t i = 0; i < blueprint_.excludes.size(); ++i) {
            if (matches_package(pool_, id, blueprint_.excludes[i])) {
                Fix& fix = keep(text_.remove_element(top, "excludes", blueprint_.excludes[i]));
                fix.changed.excludes.erase(fix.changed.excludes.begin() +
                                           static_cast<std::ptrdiff_t>(i));
                return;
            }
        }
        for (std::size_t i = 0; i < blueprint_.repositories.size(); ++i) {
            const Repository& repository = blueprint_.repositories[i];
            for (std::size_t j = 0; j < repository.excludepkgs.size(); ++j) {
                if (repository.id == pool_.solvable(id)->repo->name &&
                    matches_package(pool_, id, repository.excludepkgs[j])) {
                    Fix& fix = keep(text_.remove_element(repository.location, "excludepkgs",
                                                         repository.excludepkgs[j]));
                    std::vector<std::string>& patterns = fix.changed.repositories[i].excludepkgs;
                    patterns.erase(patterns.begin() + static_cast<std::ptrdiff_t>(j));
                    return;
                }
            }
        }
    }

    void show_modular(Id id) {
        for (const auto& [name, stream] :
             streams_holding(pool_, failed_.universe.catalogue(), id)) {
            if (name == driver_module && blueprint_.nvidia) {
                continue;
            }
            const auto known = std::ranges::find_if(
                blueprint_.modules,
                [module = name](const ModuleRequest& request) { return request.name == module; });
            if (known != blueprint_.modules.end()) {
                set_stream(static_cast<std::size_t>(known - blueprint_.modules.begin()), stream);
                continue;
            }
            const std::string file = blueprint_file(blueprint_);
            Fix& fix =
                keep(text_.append(file, {"[[enabled_modules]]", "name = " + toml_string(name),
                                         "stream = " + toml_string(stream)}));
            fix.changed.modules.push_back({name, stream, {}, {file, 0, 0}});
        }
    }

    void enable_repository(const std::string& id) {
        for (std::size_t i = 0; i < blueprint_.repositories.size(); ++i) {
            const Repository& repository = blueprint_.repositories[i];
            if (repository.id == id && !repository.enabled) {
                const bool ini = repository.location.file.ends_with(".repo");
                Fix& fix = keep(text_.set_key(repository.location, "enabled", ini ? "0" : "false",
                                              ini ? "1" : "true"));
                fix.changed.repositories[i].enabled = true;
            }
        }
    }

    /// Relaxes or removes the request of a line of the blueprint.
    void loosen(const Origin& origin) {
        switch (origin.kind) {
            case Origin::Kind::package: {
                const std::string& spec = blueprint_.packages[origin.index].spec;
                const std::string name = pinned_name(spec);
                if (!name.empty() && pool_.named(spec).empty()) {
                    set_version(origin.index, name, "*");
                }
                drop_package(origin.index);
                break;
            }
            case Origin::Kind::group:
                if (means_module(blueprint_.groups[origin.index].spec.substr(1))) {
                    other_group_streams(origin.index);
                } else {
                    drop_group(origin.index);
                }
                break;
            case Origin::Kind::module:
                other_streams(origin.index);
                break;
            case Origin::Kind::set:
            case Origin::Kind::nvidia:
            case Origin::Kind::toolkit:
            case Origin::Kind::kernel:
                break;
        }
    }

    const Failed& failed_;
    const PackagePool& pool_;
    const Blueprint& blueprint_;
    BlueprintText& text_;
    std::vector<Fix> keeping_;
    std::vector<Fix> dropping_;
};

}  // namespace

std::vector<Fix> possible_fixes(const Failed& failed, BlueprintText& text) {
    return FixFinder(failed, text).run();
}

}  // namespace edgegpu
