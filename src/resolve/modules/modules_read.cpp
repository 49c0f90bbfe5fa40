#include <modulemd-2.0/modulemd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "resolve/metadata/metadata_file.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/modules/modules_lost.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

void unref_object(void* object) {
    g_object_unref(object);
}

template <typename T>
using Object = Handle<T, unref_object>;
using Index = Object<ModulemdModuleIndex>;
using StringList = Handle<char*, g_strfreev>;
using Problem = Handle<GError, g_error_free>;

std::vector<std::string> to_strings(const StringList& list) {
    std::vector<std::string> strings;
    for (char** item = list.get(); item != nullptr && *item != nullptr; ++item) {
        strings.emplace_back(*item);
    }
    return strings;
}

std::string message_of(const Problem& problem, const char* otherwise) {
    return problem ? problem->message : otherwise;
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
    const StringList plain(modulemd_module_stream_v2_get_demodularized_rpms(v2));
    stream.demodularized = to_strings(plain);
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

/// Adds one document to the index; returns the cause if libmodulemd rejects it.
std::optional<std::string> add_document(ModulemdModuleIndex* index, std::string_view text) {
    if (text.find('\0') != std::string_view::npos) {
        return "a NUL byte";
    }
    GPtrArray* raw_failures = nullptr;
    GError* raw = nullptr;
    const bool good = modulemd_module_index_update_from_string(index, std::string(text).c_str(),
                                                               FALSE, &raw_failures, &raw) != 0;
    const Handle<GPtrArray, g_ptr_array_unref> failures(raw_failures);
    const Problem problem(raw);
    if (good) {
        return std::nullopt;
    }
    if (failures && failures->len > 0) {
        auto* info = static_cast<ModulemdSubdocumentInfo*>(failures->pdata[0]);
        const GError* cause = modulemd_subdocument_info_get_gerror(info);
        return cause != nullptr ? cause->message : "unknown problem";
    }
    return message_of(problem, "unknown problem");
}

/// Converts a line number relative to the document, as libmodulemd reports it, to one of the file.
std::string with_file_line(std::string cause, std::size_t first_line) {
    constexpr std::string_view before = "[line ";
    const std::size_t at = cause.rfind(before);
    if (at != std::string::npos) {
        const std::size_t begin = at + before.size();
        const std::size_t end =
            std::min(cause.find_first_not_of("0123456789", begin), cause.size());
        std::size_t line = 0;
        std::from_chars(cause.data() + begin, cause.data() + end, line);
        cause.replace(begin, end - begin, std::to_string(line + first_line - 1));
    }
    return cause;
}

/// Reads a repository's documents one by one, so that an unreadable one does not affect others.
Index read_documents(const std::string& yaml, const std::string& origin,
                     std::vector<LostDocument>& lost) {
    Index index(modulemd_module_index_new());
    for (const YamlDocument& document : split_documents(yaml)) {
        const std::optional<std::string> cause = add_document(index.get(), document.text);
        if (!cause) {
            continue;
        }
        std::optional<LostDocument> left_out = read_lost_document(document.text);
        if (!left_out) {
            // As in dnf, invalid YAML is an error: the file is probably truncated or corrupt.
            throw error(ErrorKind::fetch,
                        "repository '{}': invalid modules metadata: the document at line {} of "
                        "modules.yaml is not valid YAML: {}",
                        origin, document.line, *cause);
        }
        left_out->repository = origin;
        left_out->line = document.line;
        left_out->cause = with_file_line(*cause, document.line);
        lost.push_back(*std::move(left_out));
    }
    return index;
}

/// Merges the documents of `earlier` repositories and of another one, as libmodulemd does for dnf:
/// conflicting default streams result in none. Null, and sets `cause`, for conflicting default
/// profiles of one stream.
Index unite(ModulemdModuleIndex* earlier, ModulemdModuleIndex* other, std::string& cause) {
    const Object<ModulemdModuleIndexMerger> merger(modulemd_module_index_merger_new());
    modulemd_module_index_merger_associate_index(merger.get(), earlier, 0);
    modulemd_module_index_merger_associate_index(merger.get(), other, 0);
    GError* raw = nullptr;
    Index united(modulemd_module_index_merger_resolve(merger.get(), &raw));
    const Problem problem(raw);
    cause = message_of(problem, "unknown problem");
    return united;
}

void read_streams(ModulemdModuleIndex* index, const std::string& architecture,
                  ModuleCatalogue& catalogue) {
    const StringList modules(modulemd_module_index_get_module_names_as_strv(index));
    for (const std::string& name : to_strings(modules)) {
        ModulemdModule* module = modulemd_module_index_get_module(index, name.c_str());
        GPtrArray* streams = modulemd_module_get_all_streams(module);
        for (guint i = 0; i < streams->len; ++i) {
            ModuleStream stream =
                read_stream(static_cast<ModulemdModuleStream*>(streams->pdata[i]));
            if (stream.arch.empty() || stream.arch == architecture || stream.arch == "noarch") {
                catalogue.streams.push_back(std::move(stream));
            }
        }
    }
}

void read_defaults(ModulemdModuleIndex* index, ModuleCatalogue& catalogue) {
    const StringList modules(modulemd_module_index_get_module_names_as_strv(index));
    for (const std::string& name : to_strings(modules)) {
        ModulemdModule* module = modulemd_module_index_get_module(index, name.c_str());
        ModulemdDefaults* defaults = modulemd_module_get_defaults(module);
        if (defaults == nullptr || !MODULEMD_IS_DEFAULTS_V1(defaults)) {
            continue;
        }
        ModulemdDefaultsV1* v1 = MODULEMD_DEFAULTS_V1(defaults);
        // dnf does not use intents ("server", "desktop").
        const std::string stream = text_of(modulemd_defaults_v1_get_default_stream(v1, nullptr));
        if (!stream.empty()) {
            catalogue.defaults[name] = stream;
        }
        const StringList streams(
            modulemd_defaults_v1_get_streams_with_default_profiles_as_strv(v1, nullptr));
        for (const std::string& known : to_strings(streams)) {
            const StringList profiles(modulemd_defaults_v1_get_default_profiles_for_stream_as_strv(
                v1, known.c_str(), nullptr));
            catalogue.default_profiles[name][known] = to_strings(profiles);
        }
    }
}

}  // namespace

void ModuleReader::add(const std::string& yaml, const std::string& origin) {
    std::vector<LostDocument> lost;
    Index index = read_documents(yaml, origin, lost);
    for (LostDocument& document : lost) {
        if (document.arch.empty() || document.arch == architecture_ || document.arch == "noarch") {
            catalogue_.lost.push_back(std::move(document));
        }
    }
    GError* raw = nullptr;
    if (!modulemd_module_index_upgrade_streams(index.get(), MD_MODULESTREAM_VERSION_TWO, &raw)) {
        const Problem problem(raw);
        throw error(ErrorKind::fetch, "repository '{}': invalid modules metadata: {}", origin,
                    message_of(problem, "cannot be upgraded"));
    }
    read_streams(index.get(), architecture_, catalogue_);
    add_defaults(index.get(), origin);
}

void ModuleReader::add_defaults(void* index, const std::string& origin) {
    if (contradictory_) {
        return;
    }
    if (!united_) {
        united_ = std::shared_ptr<void>(g_object_ref(index), unref_object);
        return;
    }
    std::string cause;
    Index united = unite(MODULEMD_MODULE_INDEX(united_.get()), MODULEMD_MODULE_INDEX(index), cause);
    if (!united) {
        contradictory_ = true;
        catalogue_.warnings.push_back(
            fmt::format("repository '{}': its default profiles contradict another repository's "
                        "({}): as in dnf, no module has defaults then",
                        origin, cause));
    }
    united_ = std::shared_ptr<void>(united.release(), [](void* object) {
        if (object != nullptr) {
            g_object_unref(object);
        }
    });
}

ModuleCatalogue ModuleReader::take() {
    if (united_) {
        read_defaults(MODULEMD_MODULE_INDEX(united_.get()), catalogue_);
    }
    return std::move(catalogue_);
}

ModuleCatalogue read_modules(const std::vector<RepositoryMetadata>& repositories,
                             const std::string& architecture) {
    ModuleReader reader(architecture);
    for (const RepositoryMetadata& metadata : repositories) {
        if (!metadata.modules.empty()) {
            reader.add(read_metadata_file(metadata.repository->id, metadata.modules,
                                          metadata.open_size(MetadataKind::modules)),
                       metadata.repository->id);
        }
    }
    return reader.take();
}

}  // namespace edgegpu
