#include "selinux/label_cache.hpp"

#include <algorithm>

#include "support/file.hpp"

namespace edgegpu::selinux {

LabelCache::LabelCache(const Context& ctx, const std::string& digest)
    : file_(ctx.cache / "labels" / digest) {
    if (!std::filesystem::exists(file_)) {
        return;
    }
    text_ = read_file(file_);
    labels_.reserve(static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')));
    std::string_view rest = text_;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t tab = line.rfind('\t');
        if (tab != std::string_view::npos && tab > 2 && tab + 1 < line.size()) {
            labels_.emplace(line.substr(0, tab), line.substr(tab + 1));
        }
    }
}

std::string LabelCache::key(EntryType type, std::string_view path) {
    std::string result = type == EntryType::directory ? "d "
                         : type == EntryType::file    ? "f "
                                                      : "l ";
    return result.append(path);
}

std::string_view LabelCache::find(EntryType type, std::string_view path) const {
    const auto found = labels_.find(key(type, path));
    return found == labels_.end() ? std::string_view() : found->second;
}

void LabelCache::add(const Context& ctx, const std::map<std::string, std::string>& labels) {
    std::map<std::string_view, std::string_view> all(labels_.begin(), labels_.end());
    for (const auto& [key, label] : labels) {
        if (key.find('\n') == std::string::npos) {  // such a path is looked up every time
            all[key] = label;
        }
    }
    std::string text;
    for (const auto& [key, label] : all) {
        text.append(key).append("\t").append(label).append("\n");
    }
    make_directories(ctx.cache / "labels");
    write_file(file_, text, 0644);
}

}  // namespace edgegpu::selinux
