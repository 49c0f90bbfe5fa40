#include "bundles/render.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <csignal>

#include "blueprint/toml/mistakes.hpp"
#include "bundles/generated.hpp"
#include "bundles/kustomization.hpp"
#include "cache/store.hpp"
#include "sandbox/program_digest.hpp"
#include "sandbox/tool.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t largest_output = 64U << 20U;
constexpr const char* output_name = "objects.yaml";
constexpr int killed = 128 + SIGKILL;
constexpr int out_of_time = 128 + SIGXCPU;
constexpr StoreKind kept_bundles{"bundles", EntryKind::bundle};

using Words = std::vector<std::string>;

Words command_line(const Renderer& renderer) {
    Words words{std::string(name_of(renderer.kind))};
    words.emplace_back(renderer.kind == RendererKind::kustomize ? "build" : "kustomize");
    words.insert(words.end(), {std::string(tool_tree), "--output", output_name, "--load-restrictor",
                               "LoadRestrictionsRootOnly"});
    return words;
}

std::string in_one_line(std::string_view output) {
    std::string text;
    for (const std::string_view line : lines_of(output)) {
        // A Go program that dies prints its stacks after that.
        if (line.starts_with("goroutine ")) {
            break;
        }
        if (!trim(line).empty() && !line.starts_with("# Warning:")) {
            text += text.empty() ? "" : " ";
            text += trim(line);
        }
    }
    return text;
}

/// What the program says went wrong, in one line.
std::string complaint(std::string_view output) {
    std::string text = in_one_line(output);
    constexpr std::string_view prefix = "Error: ";
    if (text.starts_with(prefix)) {
        text.erase(0, prefix.size());
    }
    if (text.starts_with("error: ")) {
        text.erase(0, prefix.size());
    }
    return text;
}

/// A complaint without the texts of the blueprint's patches, which kustomize quotes: a patch may be
/// any file that the blueprint names.
std::string without_patches(const BundleFiles& bundle, std::string text) {
    for (const auto& [name, content] : bundle.files) {
        const std::string quoted = in_one_line(content);
        const bool patch = !bundle.moved_to.empty() && is_generated_patch(name) && !quoted.empty();
        for (std::size_t at = 0; patch && (at = text.find(quoted, at)) != std::string::npos;) {
            text.replace(at, quoted.size(), "…");
        }
    }
    return text;
}

/// A message with the user's paths, and without the names of generated files.
std::string with_user_paths(const BundleFiles& bundle, std::string text) {
    std::size_t at = text.find(tool_tree);
    while (at != std::string::npos) {
        const std::size_t end = std::min(text.find_first_of("'\"`\n:;, )]", at), text.size());
        std::string_view inside = std::string_view(text).substr(at, end - at);
        inside.remove_prefix(std::min(inside.size(), tool_tree.size() + 1));
        const std::string path = bundle.path_of(inside);
        text.replace(at, end - at, path);
        at = text.find(tool_tree, at + path.size());
    }
    return text;
}

std::string hint_of(const BundleFiles& bundle, std::string_view text) {
    const auto has = [&](std::string_view part) {
        return text.find(part) != std::string_view::npos;
    };
    if (has("plugins disabled") || has("must enable") || has("unable to load external plugin")) {
        return "kustomize's plugins, which are programs, are run neither here nor by MicroShift: "
               "add what they make to the bundle";
    }
    if (has("cycle detected") || has("recursed accumulation")) {
        return "a base refers to a directory that refers to it: remove one of the two entries";
    }
    if (has("out of memory") || has("cannot allocate memory")) {
        return "the sandbox has 2 GiB of memory: are there anchors and aliases that repeat each "
               "other?";
    }
    if (!bundle.moved_to.empty()) {
        return "kustomize renders the bundle itself, but not with what the blueprint changes of it";
    }
    return fmt::format("kustomize build {} says the same", bundle.source.string());
}

/// The part of a complaint about one file: "accumulating resources: accumulation err='accumulating
/// resources from 'x.yaml': REASON': must build at directory: 'PATH': file is not directory", which
/// it says because what is no list of objects may be a directory.
struct FileComplaint {
    std::string_view path;
    std::string_view reason;
};

std::optional<FileComplaint> complaint_about_file(std::string_view text) {
    constexpr std::string_view attempt = "resources from '";
    constexpr std::string_view again = "': must build at directory: '";
    constexpr std::string_view end = "': file is not directory";
    const std::size_t from = text.rfind(attempt);
    const std::size_t named =
        from == std::string_view::npos ? from : text.find("': ", from + attempt.size());
    const std::size_t over = text.find(again, from);
    const std::size_t last = text.find(end, over);
    if (from == std::string_view::npos || named >= over || last == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t path = over + again.size();
    return FileComplaint{text.substr(path, last - path), text.substr(named + 3, over - named - 3)};
}

/// `whole`: the message that may name a part of the bundle.
Error failed(const Renderer& renderer, const BundleFiles& bundle, std::string_view what,
             std::string_view whole = {}) {
    BundleFiles named{bundle.name, bundle.source, bundle.place_named_in(whole), {}};
    return error(ErrorKind::usage, "{}: {} {}", named.title(), renderer.title(),
                 with_user_paths(bundle, std::string(what)));
}

std::string run_renderer(const Context& ctx, const Renderer& renderer, const BundleFiles& bundle) {
    ToolCommand command;
    command.argv = command_line(renderer);
    command.program = renderer.file;
    command.tree = bundle.files;
    command.outputs = {output_name};
    command.output_limit = UINT64_MAX;
    command.time = time_of_renderer(ctx);
    ToolResult result = run_tool(ctx, command);
    if (result.ended == Ended::time || result.status == out_of_time || result.status == killed) {
        throw failed(renderer, bundle, "does not come to an end")
            .hinted("it has half a minute of processor time; does the bundle repeat itself?");
    }
    if (result.status != 0) {
        const std::string whole = complaint(result.output);
        const std::string text = without_patches(bundle, whole);
        if (const std::optional<FileComplaint> file = complaint_about_file(text)) {
            throw bundle
                .in_bundle(error(ErrorKind::usage, "{}: {} refuses it: {}",
                                 with_user_paths(bundle, std::string(file->path)), renderer.title(),
                                 shortened(with_user_paths(bundle, std::string(file->reason)))))
                .hinted(hint_of(bundle, text));
        }
        throw failed(renderer, bundle,
                     text.empty() ? fmt::format("failed with status {}", result.status)
                                  : "refuses it: " + shortened(text),
                     whole)
            .hinted(hint_of(bundle, text));
    }
    const auto output = result.files.find(output_name);
    if (output == result.files.end()) {
        throw failed(renderer, bundle, "wrote nothing")
            .hinted(
                fmt::format("is {} really {}?", renderer.file.string(), name_of(renderer.kind)));
    }
    if (output->second.size() > largest_output) {
        throw failed(renderer, bundle, "makes more than 64 MiB of it")
            .hinted("are there anchors and aliases that repeat each other?");
    }
    return std::move(output->second);
}

std::string rendered_text(const Context& ctx, const Renderer& renderer, const BundleFiles& bundle) {
    if (ctx.cache.empty()) {
        return run_renderer(ctx, renderer, bundle);
    }
    Sha256 key;
    key.update_field(name_of(renderer.kind));
    key.update_field(program_digest(ctx, renderer.file));
    key.update_field(bundle.digest());
    return find_or_make(
        ctx, kept_bundles, key.hex(), "is rendering the same bundle",
        [](const StoredEntry& entry) {
            const std::string* text = entry.find(output_name);
            return text == nullptr ? std::nullopt : std::optional(*text);
        },
        [&](NewEntry& entry) {
            std::string text = run_renderer(ctx, renderer, bundle);
            entry.add(output_name, text);
            return text;
        });
}

std::string check_and_render(const Context& ctx, const Renderer& renderer,
                             const BundleFiles& bundle) {
    Mistakes mistakes;
    check_kustomizations(bundle, mistakes);
    mistakes.throw_any(bundle.location.file);
    return rendered_text(ctx, renderer, bundle);
}

}  // namespace

std::vector<BundleObject> objects_of(const std::vector<RenderedBundle>& bundles) {
    std::vector<BundleObject> all;
    for (const RenderedBundle& bundle : bundles) {
        for (const KubeObject& object : bundle.objects) {
            all.push_back({&bundle, &object});
        }
    }
    return all;
}

RenderedBundle render_bundle(const Context& ctx, const Renderer& renderer,
                             const BundleFiles& bundle) {
    RenderedBundle result{bundle.name, bundle, check_and_render(ctx, renderer, bundle), {}};
    result.objects = read_objects(bundle.title(), result.text);
    return result;
}

BundleFiles read_request_files(const BundleRequest& request) {
    return request.stored
               ? read_bundle_files(request.name, request.source, request.location, *request.stored)
               : read_bundle_files(request.name, request.source, request.location);
}

RenderedBundle render_request(const Context& ctx, const Renderer& renderer,
                              const BundleRequest& request) {
    const BundleFiles files = read_request_files(request);
    if (!is_customised(request)) {
        return render_bundle(ctx, renderer, files);
    }
    // What is wrong with the user's files is said of them, and not of what is made of them.
    static_cast<void>(check_and_render(ctx, renderer, files));
    return render_bundle(ctx, renderer, generate_bundle(files, request));
}

std::vector<RenderedBundle> render_bundles(const Context& ctx,
                                           const std::vector<BundleRequest>& bundles) {
    std::vector<RenderedBundle> rendered;
    if (bundles.empty()) {
        return rendered;
    }
    const Renderer renderer = find_renderer(ctx);
    Mistakes mistakes;
    for (const BundleRequest& request : bundles) {
        mistakes.attempt([&] { rendered.push_back(render_request(ctx, renderer, request)); });
    }
    mistakes.throw_any(bundles.front().location.file);
    return rendered;
}

}  // namespace edgegpu
