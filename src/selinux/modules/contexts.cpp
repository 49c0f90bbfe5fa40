#include "selinux/modules/contexts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "blueprint/sources/policy_package.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t contexts_limit = 64U << 20U;

/// "u:r:t:s0:c1" → "u:r:t"
std::string without_level(const std::string& context) {
    std::size_t at = 0;
    for (int colons = 0; at < context.size(); ++at) {
        if (context[at] == ':' && ++colons == 3) {
            break;
        }
    }
    return context.substr(0, at);
}

void add_contexts(ContextMap& known, const std::string& text) {
    for (const std::string_view line : lines_of(text)) {
        // PATTERN [TYPE] CONTEXT
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() < 2 || words[0].starts_with('#')) {
            continue;
        }
        const bool typed = words.size() > 2;
        known[{std::string(words[0]), std::string(typed ? words[1] : "")}] =
            without_level(std::string(words[typed ? 2 : 1]));
    }
}

}  // namespace

ContextMap known_contexts(const Tree& tree, const PolicyPaths& paths,
                          const std::vector<std::string>& module_files) {
    ContextMap known;
    const std::string file = paths.policy + "/contexts/files/file_contexts";
    if (find_entry(tree, file) != nullptr) {
        add_contexts(known, read_entry(tree, file));
    }
    for (const std::string& module : module_files) {
        if (!module.ends_with(".cil") && find_entry(tree, module) != nullptr) {
            add_contexts(known, read_policy_package(read_entry(tree, module), module).contexts);
        }
    }
    return known;
}

std::string new_contexts(const Context& ctx, const fs::path& source, const ContextMap& known,
                         bool mls) {
    const fs::path file = beside_module(source, ".fc");
    if (source.extension() != ".te" || !fs::exists(file)) {
        return {};
    }
    const std::string shown = display_path(file);
    const std::string text = read_file(file, contexts_limit);
    std::map<unsigned, std::string> replaced;
    std::size_t dropped = 0;
    for (const FileContextLine& line : read_file_contexts(text, shown)) {
        const auto found = known.find({line.pattern, line.type});
        if (found != known.end() && found->second != line.context) {
            throw error(ErrorKind::usage, "{}:{}: the image's policy labels '{}' {} already", shown,
                        line.line, line.pattern, found->second)
                .hinted(
                    "a pattern may occur only once in a policy: remove the line, or use a "
                    "pattern for other paths");
        }
        if (mls && line.level.empty() && line.context != "<<none>>") {
            throw error(ErrorKind::usage,
                        "{}:{}: '{}' has no level, which the image's policy requires", shown,
                        line.line, line.context)
                .hinted(fmt::format("write gen_context({},s0)", line.context));
        }
        dropped += found != known.end() ? 1 : 0;
        replaced[line.line] = found != known.end() ? std::string() : line.text(mls);
    }
    if (dropped > 0 && ctx.console != nullptr) {
        ctx.console->note(
            fmt::format("{}: {} of {} file contexts are in the image's policy already", shown,
                        dropped, replaced.size()));
    }
    std::string result;
    unsigned number = 0;
    for (const std::string_view line : lines_of(text)) {
        const auto found = replaced.find(++number);
        result.append(found == replaced.end() ? line : found->second) += '\n';
    }
    return result;
}

}  // namespace edgegpu::selinux
