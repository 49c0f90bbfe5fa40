#include "bundles/kustomization.hpp"

#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/ranges.hpp"
#include "support/text/text.hpp"
#include "yaml/yaml.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// What the entries of a field may be.
enum class Entries {
    /// files, or directories with a kustomization of their own
    roots,
    /// files, directories, or manifests written in place
    roots_or_text,
    /// files, or patches written in place
    files_or_text,
    /// files, with a key before them ("name=path")
    keyed_files
};

struct Field {
    /// the field, and below it the key of each item; in lower case, as kustomize ignores case
    std::string_view name;
    std::string_view key;
    Entries entries;
};

constexpr std::array<Field, 21> fields{{
    {"resources", "", Entries::roots},
    {"bases", "", Entries::roots},
    {"components", "", Entries::roots},
    {"crds", "", Entries::files_or_text},
    {"configurations", "", Entries::files_or_text},
    {"generators", "", Entries::roots_or_text},
    {"transformers", "", Entries::roots_or_text},
    {"validators", "", Entries::roots_or_text},
    {"patchesstrategicmerge", "", Entries::files_or_text},
    {"patchesjson6902", "path", Entries::files_or_text},
    {"patches", "path", Entries::files_or_text},
    {"replacements", "path", Entries::files_or_text},
    {"openapi", "path", Entries::files_or_text},
    {"configmapgenerator", "files", Entries::keyed_files},
    {"configmapgenerator", "envs", Entries::keyed_files},
    {"configmapgenerator", "env", Entries::keyed_files},
    {"secretgenerator", "files", Entries::keyed_files},
    {"secretgenerator", "envs", Entries::keyed_files},
    {"secretgenerator", "env", Entries::keyed_files},
    {"helmcharts", "", Entries::roots},
    {"helmchartinflationgenerator", "", Entries::roots},
}};

/// Whether an entry that is no path of the bundle names a repository or a file of another machine,
/// in one of the forms that kustomize takes.
bool is_remote(std::string_view entry) {
    if (entry.find("://") != std::string_view::npos || entry.starts_with("git@") ||
        entry.starts_with("git::") || entry.starts_with("gh:") ||
        entry.find("?ref=") != std::string_view::npos) {
        return true;
    }
    // "github.com/owner/repository"
    const std::string_view first = entry.substr(0, entry.find('/'));
    return first.size() < entry.size() && !first.starts_with('.') &&
           first.find('.') != std::string_view::npos && !first.ends_with(".d");
}

/// Checks the kustomizations of a bundle, each once.
class Checking {
public:
    Checking(const BundleFiles& bundle, Mistakes& mistakes)
        : bundle_(bundle), mistakes_(mistakes) {}

    /// `directory` is "" or "base/amd64".
    // NOLINTNEXTLINE(misc-no-recursion): each directory is visited once
    void check_directory(const std::string& directory) {
        if (!seen_.insert(directory).second) {
            return;
        }
        const std::string place = directory.empty() ? "" : directory + '/';
        std::vector<std::string> found;
        for (const auto& [file, content] : bundle_.files) {
            if (file.starts_with(place) && is_kustomization_name(file.substr(place.size()))) {
                found.push_back(file.substr(place.size()));
            }
        }
        if (found.size() != 1) {
            mistakes_.add(wrong_number(directory, found));
            return;
        }
        mistakes_.attempt([&] { check_file(directory, place + found.front()); });
    }

private:
    [[nodiscard]] Error wrong_number(const std::string& directory,
                                     const std::vector<std::string>& found) const {
        const std::string path = bundle_.path_of(directory);
        return found.empty()
                   ? bundle_.in_bundle(error(ErrorKind::usage, "{}: no kustomization.yaml", path))
                         .hinted(
                             "list the manifests under \"resources:\" in " +
                             bundle_.path_of((fs::path(directory) / "kustomization.yaml").string()))
                   : bundle_
                         .in_bundle(error(ErrorKind::usage, "{}: more than one kustomization: {}",
                                          path, fmt::join(found, ", ")))
                         .hinted("MicroShift refuses such a directory: keep kustomization.yaml");
    }

    [[nodiscard]] SourceLocation at(const std::string& file, const YamlNode& node) const {
        return bundle_.place_of(file, node.line, node.column);
    }

    void check_file(const std::string& directory, const std::string& file) {
        std::vector<YamlNode> documents;
        try {
            documents = read_yaml(bundle_.path_of(file), bundle_.files.at(file));
        } catch (const Error& failure) {
            throw bundle_.in_bundle(failure);
        }
        if (documents.empty()) {
            throw bundle_.in_bundle(error(ErrorKind::usage, "{}: is empty", bundle_.path_of(file)))
                .hinted("list the manifests under \"resources:\"");
        }
        const YamlNode& root = documents.front();
        for (std::size_t i = 0; i < root.keys.size(); ++i) {
            const std::string name = lower_case(root.keys[i]);
            for (const Field& field : fields) {
                if (field.name == name) {
                    check_field(directory, file, field, root.items[i]);
                }
            }
        }
    }

    void check_field(const std::string& directory, const std::string& file, const Field& field,
                     const YamlNode& value) {
        if (field.name.starts_with("helm")) {
            mistakes_.add(
                bundle_.in_bundle(error_at(at(file, value), "Helm charts are not rendered"))
                    .hinted("render the chart with helm template, and add the result to the "
                            "bundle's resources"));
            return;
        }
        const std::vector<YamlNode> items =
            value.kind == YamlNode::Kind::sequence ? value.items : std::vector<YamlNode>{value};
        for (const YamlNode& item : items) {
            if (field.key.empty()) {
                check_entry(directory, file, field, item);
                continue;
            }
            for (std::size_t i = 0; i < item.keys.size(); ++i) {
                if (lower_case(item.keys[i]) != field.key) {
                    continue;
                }
                const YamlNode& entry = item.items[i];
                for (const YamlNode& single : entry.items) {
                    check_entry(directory, file, field, single);
                }
                check_entry(directory, file, field, entry);
            }
        }
    }

    // NOLINTNEXTLINE(misc-no-recursion): check_directory visits each directory once
    void check_entry(const std::string& directory, const std::string& file, const Field& field,
                     const YamlNode& node) {
        std::string entry = node.text;
        if (node.kind != YamlNode::Kind::scalar || entry.empty() ||
            (field.entries != Entries::roots && entry.find('\n') != std::string::npos)) {
            return;
        }
        if (field.entries == Entries::keyed_files) {
            entry = entry.substr(entry.find('=') + 1);
        }
        const std::string path = (fs::path(directory) / entry).lexically_normal().string();
        const std::string target = std::string(trim_end(path, "/"));
        if (bundle_.files.contains(target)) {
            return;
        }
        const bool roots =
            field.entries == Entries::roots || field.entries == Entries::roots_or_text;
        if (roots && is_directory(target)) {
            check_directory(target == "." ? "" : target);
            return;
        }
        // A patch or a manifest in one line.
        if (field.entries != Entries::roots && field.entries != Entries::keyed_files &&
            entry.find_first_of("{ ") != std::string::npos) {
            return;
        }
        mistakes_.add(bundle_.in_bundle(missing(at(file, node), entry, target)));
    }

    [[nodiscard]] bool is_directory(const std::string& path) const {
        const auto below = bundle_.files.lower_bound(path + '/');
        return path == "." ||
               (below != bundle_.files.end() && below->first.starts_with(path + '/'));
    }

    [[nodiscard]] Error missing(const SourceLocation& where, const std::string& entry,
                                const std::string& target) const {
        if (is_remote(entry)) {
            return error_at(where, "\"{}\" is not in the bundle but on another machine", entry)
                .hinted(
                    "download it into the bundle, and name it by its path there: neither the "
                    "build nor a device without network fetches it");
        }
        const char* const only = "a device gets the files of the bundle's directory, and no others";
        if (fs::path(entry).is_absolute()) {
            return error_at(where, "\"{}\" is an absolute path", entry).hinted(only);
        }
        if (target == ".." || target.starts_with("../")) {
            return error_at(where, "\"{}\" is outside of the bundle", entry).hinted(only);
        }
        const std::string near = near_names_hint(target, keys_of(bundle_.files));
        return error_at(where, "\"{}\" is not in the bundle", entry)
            .hinted(near.empty() ? "add the file, or remove the entry" : near);
    }

    const BundleFiles& bundle_;
    Mistakes& mistakes_;
    std::set<std::string> seen_;
};

}  // namespace

void check_kustomizations(const BundleFiles& bundle, Mistakes& mistakes) {
    Checking(bundle, mistakes).check_directory("");
}

}  // namespace edgegpu
