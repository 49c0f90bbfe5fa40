#include "report/diff_files.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_config = 16U << 20U;

bool is_leaf(const std::optional<CommitPath>& side) {
    return side && side->type != EntryType::directory;
}

/// Whether a file or symlink was added, removed or has other content.
bool is_file_change(const PathChange& change) {
    return (is_leaf(change.before) || is_leaf(change.after)) &&
           (!change.before || !change.after || change.content);
}

/// The content of a file; empty for other types.
std::string text_of(const CommitView& commit, const std::optional<CommitPath>& side,
                    const std::string& path) {
    return side && side->type == EntryType::file ? commit.read(path, largest_config).value_or("")
                                                 : "";
}

/// The directory of a file's bundle: "manifests/x.yaml" → "manifests", "manifests/a/x.yaml" →
/// "manifests/a", "manifests.d/a/b/x.yaml" → "manifests.d/a", "manifests.d/delete/a/x.yaml" →
/// "manifests.d/delete/a"; empty for a file that is in no bundle.
std::string_view bundle_of(std::string_view path) {
    std::size_t end = path.find('/');
    const std::string_view top = path.substr(0, end);
    if (end == std::string_view::npos || (top != "manifests" && top != "manifests.d")) {
        return {};
    }
    const std::size_t inner = path.find('/', end + 1);
    if (inner == std::string_view::npos) {
        return top == "manifests" ? top : std::string_view{};
    }
    const bool deletions = path.substr(end + 1, inner - end - 1) == "delete";
    const std::size_t last = deletions ? path.find('/', inner + 1) : inner;
    return path.substr(0, last == std::string_view::npos ? inner : last);
}

}  // namespace

FileTotals count_files(const TreeChanges& changes) {
    FileTotals totals;
    for (const auto& [path, change] : changes) {
        const bool before = is_leaf(change.before);
        const bool after = is_leaf(change.after);
        if (before && after) {
            if (change.content) {
                ++totals.changed;
                totals.changed_bytes_before += change.before->size;
                totals.changed_bytes_after += change.after->size;
            } else {
                ++totals.other;
            }
        } else if (after) {
            ++totals.added;
            totals.added_bytes += change.after->size;
        } else if (before) {
            ++totals.removed;
            totals.removed_bytes += change.before->size;
        }
    }
    return totals;
}

std::vector<ConfigChange> compare_modprobe(const CommitPair& pair, const TreeChanges& changes) {
    std::vector<ConfigChange> files;
    for (const char* directory :
         {"/usr/etc/modprobe.d", "/etc/modprobe.d", "/usr/lib/modprobe.d"}) {
        for (const auto& [path, change] : changes_below(changes, directory)) {
            if (is_file_change(change)) {
                files.push_back({path, change.kind(),
                                 compare_lines(text_of(pair.before, change.before, path),
                                               text_of(pair.after, change.after, path))});
            }
        }
    }
    return files;
}

std::vector<BundleChange> compare_bundles(const CommitPair& pair, const TreeChanges& changes) {
    std::map<std::string, BundleChange> bundles;
    for (const std::string directory : {"/usr/etc/microshift", "/usr/lib/microshift"}) {
        for (const auto& [path, change] : changes_below(changes, directory)) {
            const std::string_view name = std::string_view(path).substr(directory.size() + 1);
            const std::string_view bundle = bundle_of(name);
            if (bundle.empty() || !is_file_change(change)) {
                continue;
            }
            const std::string place = directory + '/' + std::string(bundle);
            BundleChange& found = bundles[place];
            if (found.directory.empty()) {
                found.directory = place;
                found.change = !pair.before.find(place)  ? "added"
                               : !pair.after.find(place) ? "removed"
                                                         : "changed";
            }
            found.files.push_back({std::string(name.substr(bundle.size() + 1)), change.kind()});
        }
    }
    std::vector<BundleChange> sorted;
    sorted.reserve(bundles.size());
    for (auto& [place, bundle] : bundles) {
        sorted.push_back(std::move(bundle));
    }
    return sorted;
}

}  // namespace edgegpu
