#include "disk/image_labels.hpp"

#include <algorithm>
#include <array>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_contexts = 64U << 20U;
constexpr std::array<std::string_view, 5> contexts_suffixes{"", ".homedirs", ".local", ".subs",
                                                            ".subs_dist"};

/// The value of SELINUXTYPE, or empty.
std::string selinux_type(const CommitView& commit) {
    const std::string config = commit.read("/usr/etc/selinux/config", 1U << 20U).value_or("");
    constexpr std::string_view key = "SELINUXTYPE=";
    std::size_t begin = 0;
    while (begin < config.size()) {
        const std::size_t end = std::min(config.find('\n', begin), config.size());
        const std::string_view line = trim(std::string_view(config).substr(begin, end - begin));
        if (line.starts_with(key)) {
            return std::string(trim(line.substr(key.size())));
        }
        begin = end + 1;
    }
    return {};
}

}  // namespace

ImageLabels::ImageLabels(const Context& ctx, const CommitView& commit)
    : policy_(selinux_type(commit)) {
    if (policy_.empty()) {
        return;
    }
    ctx.check_cancelled();
    const TemporaryDirectory scratch(temporary_directory() / "edgegpu-labels");
    const std::string source = "/usr/etc/selinux/" + policy_ + "/contexts/files/file_contexts";
    for (const std::string_view suffix : contexts_suffixes) {
        const auto content = commit.read(source + std::string(suffix), largest_contexts);
        if (content) {
            write_file(scratch / ("file_contexts" + std::string(suffix)), *content, 0600);
        } else if (suffix.empty()) {
            throw error("the image's SELinux policy {} has no {}", policy_, source);
        }
    }
    contexts_.emplace(scratch / "file_contexts");
}

std::string ImageLabels::look_up(std::string_view path, EntryType type) const {
    if (!contexts_) {
        return {};
    }
    std::string label = contexts_->look_up(path, type);
    while (label.empty() && path != "/") {
        const std::size_t slash = path.rfind('/');
        path = slash == 0 ? "/" : path.substr(0, slash);
        label = contexts_->look_up(path, EntryType::directory);
    }
    return label;
}

NodeAttributes ImageLabels::attributes(std::string_view path, EntryType type, unsigned mode,
                                       std::int64_t modified) const {
    NodeAttributes node{mode, 0, 0, modified, {}};
    if (const std::string label = look_up(path, type); !label.empty()) {
        node.attributes["security.selinux"] = label + '\0';
    }
    return node;
}

}  // namespace edgegpu
