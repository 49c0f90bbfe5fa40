#include "delta/delta_content.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace edgegpu {

namespace {

/// A file of the old commit.
struct OldFile {
    std::string checksum;
    std::string path;
    std::uint64_t size = 0;
};

/// "libcuda.so.550.54" → "libcuda.so.#.#"
std::string without_numbers(std::string_view path) {
    std::string text;
    bool number = false;
    for (const char letter : path) {
        const bool digit = letter >= '0' && letter <= '9';
        if (!digit || !number) {
            text += digit ? '#' : letter;
        }
        number = digit;
    }
    return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (std::size_t at = what.empty() ? std::string::npos : text.find(what);
         at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
    return text;
}

/// The old files by what may be alike in their paths.
class OldFiles {
public:
    explicit OldFiles(const CommitView& from, const std::vector<TreeObject>& files) {
        files_.reserve(files.size());
        for (const TreeObject& file : files) {
            const CommitPath described = from.describe({false, file.checksum, ""}, file.path);
            if (described.type == EntryType::file && described.size != 0) {
                files_.push_back({file.checksum, file.path, described.size});
            }
        }
        for (const OldFile& file : files_) {
            by_path_.emplace(file.path, &file);
            by_pattern_[without_numbers(file.path)].push_back(&file);
            by_name_[without_numbers(base_name(file.path))].push_back(&file);
        }
    }

    /// The one that `file` is made from, or null. `kernels` are those of the new and old commit.
    [[nodiscard]] const OldFile* find(const NewFile& file,
                                      const std::pair<std::string, std::string>& kernels) const {
        for (const std::string& path :
             {file.path, replaced(file.path, kernels.first, kernels.second)}) {
            if (const auto found = by_path_.find(path); found != by_path_.end()) {
                return found->second;
            }
        }
        if (const auto found = by_pattern_.find(without_numbers(file.path));
            found != by_pattern_.end()) {
            return nearest(found->second, file.size);
        }
        const auto found = by_name_.find(without_numbers(base_name(file.path)));
        return found == by_name_.end() ? nullptr : nearest(found->second, file.size);
    }

private:
    static const OldFile* nearest(const std::vector<const OldFile*>& files, std::uint64_t size) {
        return *std::ranges::min_element(files, {}, [size](const OldFile* file) {
            return std::max(file->size, size) - std::min(file->size, size);
        });
    }

    std::vector<OldFile> files_;
    std::unordered_map<std::string_view, const OldFile*> by_path_;
    std::unordered_map<std::string, std::vector<const OldFile*>> by_pattern_;
    std::unordered_map<std::string, std::vector<const OldFile*>> by_name_;
};

std::set<std::string> checksums_of(const TreeObjects& objects) {
    std::set<std::string> all;
    for (const auto* list : {&objects.files, &objects.directories}) {
        std::ranges::transform(*list, std::inserter(all, all.end()), &TreeObject::checksum);
    }
    return all;
}

/// Puts files of one name and size behind the first of them.
void put_equal_ones_together(std::vector<NewFile>& files) {
    using NameAndSize = std::pair<std::string, std::uint64_t>;
    const auto key = [](const NewFile& file) {
        return NameAndSize(base_name(file.path), file.size);
    };
    std::map<NameAndSize, std::string> first;
    for (const NewFile& file : files) {
        first.emplace(key(file), file.path);
    }
    std::ranges::sort(
        files, {}, [&](const NewFile& file) { return std::pair(first.at(key(file)), file.path); });
}

}  // namespace

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

DeltaContent compare_content(const Context& ctx, const CommitView& from, const CommitView& to) {
    const TreeObjects before = list_objects(ctx, from);
    const TreeObjects after = list_objects(ctx, to);
    const std::set<std::string> known = checksums_of(before);
    const OldFiles old_files(from, before.files);
    DeltaContent content;
    for (const TreeObject& file : after.files) {
        if (known.contains(file.checksum)) {
            continue;
        }
        const CommitPath described = to.describe({false, file.checksum, ""}, file.path);
        NewFile made{file.checksum,
                     file.path,
                     described.type == EntryType::symlink,
                     described.size,
                     to.stored_size(file.checksum),
                     "",
                     "",
                     0};
        const OldFile* source =
            made.link ? nullptr : old_files.find(made, {to.info().kernel, from.info().kernel});
        if (source != nullptr) {
            made.source = source->checksum;
            made.source_path = source->path;
            made.source_size = source->size;
        }
        content.stored += made.stored;
        content.files.push_back(std::move(made));
    }
    std::ranges::sort(content.files, {}, &NewFile::path);
    put_equal_ones_together(content.files);
    for (const TreeObject& directory : after.directories) {
        if (!known.contains(directory.checksum)) {
            content.directories.push_back(directory);
        }
    }
    return content;
}

}  // namespace edgegpu
