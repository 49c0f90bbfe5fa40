#include "selinux/modules/interfaces.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/sources/policy_source.hpp"
#include "cache/store.hpp"
#include "fetch/fetch.hpp"
#include "image/image_root.hpp"
#include "image/kept_entries.hpp"
#include "rootfs/import.hpp"
#include "rootfs/order.hpp"
#include "rootfs/unite.hpp"
#include "rootfs/unpack.hpp"
#include "rootfs/workplace.hpp"
#include "sandbox/sandbox.hpp"
#include "selinux/policy/modules.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view include_directory = "/usr/share/selinux/devel/include/";
constexpr std::string_view makefile = "/usr/share/selinux/devel/Makefile";
/// Directory in the sandbox.
constexpr std::string_view work_directory = "/run/edgegpu-modules";

/// Calls `visit(path, entry)` for the interface files among `entries`.
template <typename Visit>
void for_each_interface_file(const Entries& entries, const Visit& visit) {
    for (const auto& [path, entry] : entries_below(entries, include_directory)) {
        if (entry.type == EntryType::file) {
            visit(path, entry);
        }
    }
}

std::string digest_of(const MacroModules& modules, const PackageFiles& policy_root,
                      const Tree& tree) {
    Sha256 digest;
    digest.update_field(modules.type);
    digest.update_field(modules.mls ? "mls" : "");
    for (const fs::path& source : modules.sources) {
        digest.update_field(source.filename().string());
    }
    digest.update_field("files");
    for (const auto& [name, text] : modules.files) {
        digest.update_field(name);
        digest.update_field(text);
    }
    digest_interfaces(digest, policy_root, tree);
    return digest.hex();
}

/// Each file of an entry is a module, under its name.
constexpr StoreKind kept_modules{"modules", EntryKind::modules};

/// The content of the root. No scriptlets are run: they are not needed for compiling modules (those
/// of selinux-policy-devel index all interfaces for other tools).
Entries root_entries(const Context& ctx, const PackageFiles& policy_root, const Tree& image) {
    Tree tree;
    tree.entries = unite(order_packages(import_packages(ctx, policy_root))).entries;
    for_each_interface_file(image.entries, [&](const std::string& path, const Entry& entry) {
        put_entry(tree, path, entry);
    });
    return std::move(tree.entries);
}

std::vector<std::string> all_macros(const Entries& entries, const MacroModules& modules) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& text) {
        std::vector<std::string> found = defined_macros(text);
        names.insert(names.end(), std::make_move_iterator(found.begin()),
                     std::make_move_iterator(found.end()));
    };
    for_each_interface_file(entries, [&](const std::string& path, const Entry& entry) {
        if (path.ends_with(".if") || path.ends_with(".spt")) {
            add(read_file(entry.content, module_limit));
        }
    });
    for (const auto& [name, text] : modules.files) {
        add(name.ends_with(".if") ? text : std::string());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// The directory of the user's files in messages: "selinux/" or "".
std::string shown_directory(const fs::path& source) {
    const std::string shown = display_path(source);
    return shown.substr(0, shown.rfind('/') + 1);
}

std::map<std::string, std::string> compile(const Context& outer, const MacroModules& modules,
                                           const Entries& entries) {
    // Neither the image's time nor its kernel: they are not in the key.
    const Context ctx = outer.at(unpacked_time);
    Workplace place(ctx, "policy-root");
    place.mount(ctx, entries);
    const fs::path work = place.made("modules");
    make_writable_directory(work);
    for (const auto& [name, text] : modules.files) {
        write_file(work / name, text);
    }
    SandboxCommand command;
    command.root = place.root();
    command.read_only_root = true;
    command.writable_binds = {{work, std::string(work_directory)}};
    // The image's tools can write anything there, for example links.
    const ImageRoot results(work);
    std::map<std::string, std::string> result;
    for (const fs::path& source : modules.sources) {
        const std::string name = source.stem().string();
        command.argv = {"make",
                        "-s",
                        "-C",
                        std::string(work_directory),
                        "-f",
                        std::string(makefile),
                        "NAME=" + modules.type,
                        fmt::format("MLSENABLED={}", modules.mls ? 1 : 0),
                        name + ".pp"};
        const ProcessResult made = run_in_sandbox(ctx, command);
        const std::string package = fmt::format("/{}.pp", name);
        const std::optional<struct stat> found = results.status(package);
        if (made.status != 0 || !found || !S_ISREG(found->st_mode)) {
            MacroModules one = modules;
            one.sources = {source};
            throw macro_error(made.output, one, shown_directory(source),
                              all_macros(entries, modules));
        }
        result[name + ".pp"] = results.read(package, module_limit, LastLink::not_followed);
    }
    return result;
}

/// The line of a text, 1-based, or empty.
std::string line_at(const std::string& text, unsigned number) {
    const std::vector<std::string_view> lines = lines_of(text);
    return number >= 1 && number <= lines.size() ? std::string(lines[number - 1]) : std::string();
}

/// The error for an undefined macro, which m4 leaves in the compiler's input.
std::optional<Error> unknown_macro(const std::string& where, const std::string& line,
                                   const std::string& token, const std::string& message,
                                   const std::vector<std::string>& interfaces) {
    static const std::regex permissions(R"(permission (\w+_perms) is not defined)");
    std::smatch match;
    std::string name;
    const char* kind = "interface";
    if (std::regex_search(message, match, permissions)) {
        name = match[1].str();
        kind = "set of permissions";
    } else if (std::regex_search(line, std::regex("\\b" + token + R"(\s*\()"))) {
        name = token;
    }
    if (name.empty() || std::binary_search(interfaces.begin(), interfaces.end(), name)) {
        return std::nullopt;
    }
    Error problem =
        error(ErrorKind::usage, "{}: no {} '{}' in the image's policy", where, kind, name);
    const std::vector<std::string> near = nearest_names(name, interfaces, 3);
    return near.empty() ? problem.hinted(
                              "it may be defined in a package that the image does not have: "
                              "interfaces for containers are in container-selinux")
                        : problem.hinted(fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

bool is_word(const std::string& text) {
    static const std::regex word(R"(\w+)");
    return std::regex_match(text, word);
}

}  // namespace

void digest_interfaces(Sha256& digest, const PackageFiles& policy_root, const Tree& tree) {
    digest.update_field(fmt::format("interfaces of {} packages", policy_root.size()));
    for (const PackageFile& file : policy_root) {
        digest.update_field(file.package.content_id());
    }
    for_each_interface_file(tree.entries, [&](const std::string& path, const Entry& entry) {
        digest.update_field(path);
        digest.update_field(entry.digest);
    });
}

std::vector<std::string> defined_macros(const std::string& text) {
    static const std::regex defined(R"((?:^|\n)[ \t]*(?:interface|template|define)\(`(\w+)')");
    std::vector<std::string> names;
    for (auto it = std::sregex_iterator(text.begin(), text.end(), defined);
         it != std::sregex_iterator(); ++it) {
        names.push_back((*it)[1].str());
    }
    return names;
}

Error macro_error(const std::string& output, const MacroModules& modules,
                  const std::string& directory, const std::vector<std::string>& interfaces) {
    static const std::regex located(
        R"re((?:^|\n)"?([^\s":]+)"?:(\d+):ERROR '([^\n]*?)' at token '([^\n]*?)' on line)re");
    static const std::regex expansion(R"((?:^|\n)\S*m4:([^\s:]+):(\d+): (?:ERROR: )?([^\n]*))");
    static const std::regex renamed(R"(Module name (\S+) is different)");
    const std::string name = modules.sources.front().filename().string();
    std::smatch match;
    if (std::regex_search(output, match, renamed)) {
        return error(ErrorKind::usage, "{}{}: the name of the module is '{}'", directory, name,
                     match[1].str())
            .hinted(
                "a module must have the name of its file: policy_module(NAME, VERSION) in NAME.te");
    }
    // The tools know only the names of the user's files.
    const auto place = [&](const std::string& file) {
        return (modules.files.contains(file) ? directory : std::string()) + file;
    };
    if (std::regex_search(output, match, located)) {
        const std::string where = fmt::format("{}:{}", place(match[1].str()), match[2].str());
        const auto file = modules.files.find(match[1].str());
        const std::string message = match[3].str();
        const std::string token = match[4].str();
        if (file != modules.files.end() && is_word(token)) {
            const std::string line =
                line_at(file->second, static_cast<unsigned>(std::stoul(match[2].str())));
            if (auto unknown = unknown_macro(where, line, token, message, interfaces)) {
                return *std::move(unknown);
            }
        }
        static const std::regex undeclared(R"((unknown|undeclared) )");
        Error problem = error(ErrorKind::usage, "{}: {} at '{}'", where, message, token);
        return std::regex_search(message, undeclared)
                   ? problem.hinted("what other modules declare is required first, in gen_require")
                   : problem;
    }
    if (std::regex_search(output, match, expansion)) {
        return error(ErrorKind::usage, "{}:{}: {}", place(match[1].str()), match[2].str(),
                     match[3].str())
            .hinted("quotes of macros must be balanced: ` and '");
    }
    return error(ErrorKind::usage, "{}{}: the policy compiler rejected it", directory, name)
        .traced(std::string(trim_end(output, "\n")));
}

void compile_with_interfaces(const Context& ctx, const PackageFiles& policy_root, const Tree& tree,
                             const MacroModules& modules, const fs::path& directory) {
    using Packages = std::map<std::string, std::string>;
    const Packages compiled = find_or_make(
        ctx, kept_modules, digest_of(modules, policy_root, tree),
        "is compiling the same policy modules",
        [](const StoredEntry& entry) { return std::optional<Packages>(entry.files()); },
        [&](NewEntry& entry) {
            if (policy_root.empty()) {
                throw error(ErrorKind::usage,
                            "{}: it uses the reference policy's macros, but nothing was resolved "
                            "to compile it with",
                            display_path(modules.sources.front()))
                    .hinted("build without --locked to resolve again");
            }
            Packages made = compile(ctx, modules, root_entries(ctx, policy_root, tree));
            for (const auto& [name, content] : made) {
                entry.add(name, content);
            }
            return made;
        });
    for (const auto& [name, content] : compiled) {
        write_file(directory / name, content);
    }
}

}  // namespace edgegpu::selinux
