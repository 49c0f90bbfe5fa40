#include <modulemd-2.0/modulemd.h>

#include "resolve/modules.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

void unref_object(void* object) {
    g_object_unref(object);
}

template <typename T>
using Object = Handle<T, unref_object>;
using StringList = Handle<char*, g_strfreev>;

std::vector<std::string> to_strings(const StringList& list) {
    std::vector<std::string> strings;
    for (char** item = list.get(); item != nullptr && *item != nullptr; ++item) {
        strings.emplace_back(*item);
    }
    return strings;
}

std::string text_of(const char* text) {
    return text != nullptr ? text : "";
}

std::map<std::string, std::vector<std::string>> read_dependency(ModulemdDependencies* dependency) {
    std::map<std::string, std::vector<std::string>> needed;
    const StringList modules(modulemd_dependencies_get_runtime_modules_as_strv(dependency));
    for (const std::string& module : to_strings(modules)) {
        const StringList streams(
            modulemd_dependencies_get_runtime_streams_as_strv(dependency, module.c_str()));
        needed[module] = to_strings(streams);
    }
    return needed;
}

ModuleStream read_stream(ModulemdModuleStream* source) {
    auto* v2 = MODULEMD_MODULE_STREAM_V2(source);
    ModuleStream stream;
    stream.id.name = text_of(modulemd_module_stream_get_module_name(source));
    stream.id.stream = text_of(modulemd_module_stream_get_stream_name(source));
    stream.id.version = fmt::format("{}", modulemd_module_stream_get_version(source));
    stream.id.context = text_of(modulemd_module_stream_get_context(source));
    stream.arch = text_of(modulemd_module_stream_get_arch(source));
    const StringList artifacts(modulemd_module_stream_v2_get_rpm_artifacts_as_strv(v2));
    stream.artifacts = to_strings(artifacts);
    const StringList profiles(modulemd_module_stream_v2_get_profile_names_as_strv(v2));
    for (const std::string& name : to_strings(profiles)) {
        ModulemdProfile* profile = modulemd_module_stream_v2_get_profile(v2, name.c_str());
        const StringList rpms(modulemd_profile_get_rpms_as_strv(profile));
        stream.profiles[name] = to_strings(rpms);
    }
    const Handle<GPtrArray, g_ptr_array_unref> dependencies(
        g_ptr_array_ref(modulemd_module_stream_v2_get_dependencies(v2)));
    for (guint i = 0; i < dependencies->len; ++i) {
        stream.dependencies.push_back(
            read_dependency(static_cast<ModulemdDependencies*>(dependencies->pdata[i])));
    }
    return stream;
}

}  // namespace

void ModuleReader::add(const std::string& yaml, const std::string& origin, int priority) {
    const Object<ModulemdModuleIndex> index(modulemd_module_index_new());
    GPtrArray* raw_failures = nullptr;
    GError* raw = nullptr;
    const bool good = modulemd_module_index_update_from_string(index.get(), yaml.c_str(), FALSE,
                                                               &raw_failures, &raw) != 0;
    const Handle<GPtrArray, g_ptr_array_unref> failures(raw_failures);
    Handle<GError, g_error_free> problem(raw);
    if (!good) {
        std::string text = problem ? problem->message : "";
        if (text.empty() && failures && failures->len > 0) {
            auto* info = static_cast<ModulemdSubdocumentInfo*>(failures->pdata[0]);
            const GError* cause = modulemd_subdocument_info_get_gerror(info);
            text = cause != nullptr ? cause->message : "";
        }
        throw error(ErrorKind::fetch, "repository '{}': invalid modules metadata: {}", origin,
                    text);
    }
    raw = nullptr;
    if (!modulemd_module_index_upgrade_streams(index.get(), MD_MODULESTREAM_VERSION_TWO, &raw)) {
        problem.reset(raw);
        throw error(ErrorKind::fetch, "repository '{}': invalid modules metadata: {}", origin,
                    problem ? problem->message : "cannot be upgraded");
    }
    const StringList modules(modulemd_module_index_get_module_names_as_strv(index.get()));
    for (const std::string& name : to_strings(modules)) {
        ModulemdModule* module = modulemd_module_index_get_module(index.get(), name.c_str());
        GPtrArray* streams = modulemd_module_get_all_streams(module);
        for (guint i = 0; i < streams->len; ++i) {
            ModuleStream stream =
                read_stream(static_cast<ModulemdModuleStream*>(streams->pdata[i]));
            if (stream.arch.empty() || stream.arch == architecture_ || stream.arch == "noarch") {
                catalogue_.streams.push_back(std::move(stream));
            }
        }
        ModulemdDefaults* defaults = modulemd_module_get_defaults(module);
        if (defaults == nullptr || !MODULEMD_IS_DEFAULTS_V1(defaults)) {
            continue;
        }
        const std::string stream = text_of(
            modulemd_defaults_v1_get_default_stream(MODULEMD_DEFAULTS_V1(defaults), nullptr));
        if (stream.empty()) {
            continue;
        }
        const auto known = default_priority_.find(name);
        if (known == default_priority_.end() || priority < known->second) {
            catalogue_.defaults[name] = stream;
            default_priority_[name] = priority;
        } else if (priority == known->second && catalogue_.defaults[name] != stream) {
            // Two repositories of equal rank disagree: as in dnf there is no default then.
            catalogue_.defaults[name].clear();
        }
    }
}

ModuleCatalogue read_modules(const std::vector<RepositoryMetadata>& repositories,
                             const std::string& architecture) {
    ModuleReader reader(architecture);
    for (const RepositoryMetadata& metadata : repositories) {
        if (!metadata.modules.empty()) {
            reader.add(read_metadata_file(metadata.repository->id, metadata.modules),
                       metadata.repository->id, metadata.repository->priority);
        }
    }
    return reader.take();
}

}  // namespace edgegpu
