#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "cache/cache_lock.hpp"
#include "commands/commands.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "pipeline/explain_image.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// Packages, or images where there are any of that name.
struct WhyAnswer {
    PackageAnswer packages;
    std::vector<ImageReason> images;
};

WhyAnswer answer_for(const Context& ctx, const Blueprint& blueprint, const WhyCommand& command) {
    WhyAnswer answer;
    if (names_images(command.package)) {
        answer.images = why_image(ctx, blueprint, command.package);
    }
    if (answer.images.empty()) {
        answer.packages = why_package_of_image(ctx, blueprint, command.package);
    }
    return answer;
}

std::string images_text(const std::vector<ImageReason>& images) {
    std::string text;
    for (const ImageReason& image : images) {
        text +=
            fmt::format("{} {}\n", printable_line(image.name),
                        image.in_image ? "is in the image"
                                       : "is not in the image: embed_images does not choose it");
        for (const std::string& who : image.wanted_by) {
            text += fmt::format("  {}\n", printable_line(who));
        }
    }
    return text;
}

std::string answer_text(const WhyCommand& command, const PackageAnswer& answer) {
    std::string text;
    for (const PackageReason& reason : answer.installed) {
        const ResolvedPackage& package = reason.package;
        text += package.nevra.text();
        if (!reason.provides.empty()) {
            text += fmt::format(" provides {}", reason.provides);
        }
        const bool of_parent = package.why.kind == Reason::Kind::of_parent;
        text += of_parent ? fmt::format("\n  of {}\n  {}\n", package.repository, reason.origin)
                          : fmt::format("\n  from repository {}; {}\n  {}\n", package.repository,
                                        package.why.text(), reason.origin);
        for (const std::string& link : reason.chain) {
            text += fmt::format("    {}\n", link);
        }
        if (!reason.required_by.empty()) {
            text += fmt::format("  required by {}\n", fmt::join(reason.required_by, ", "));
        }
    }
    if (answer.installed.empty()) {
        text += fmt::format("{} is not in the image\n", command.package);
        for (const std::string& line : answer.kept_out) {
            text += fmt::format("  {}\n", line);
        }
    }
    return text;
}

std::string answer_json(const WhyCommand& command, const WhyAnswer& answer) {
    using nlohmann::ordered_json;
    const ordered_json images = mapped(answer.images, [](const ImageReason& image) -> ordered_json {
        return {{"name", image.name}, {"in_image", image.in_image}, {"wanted_by", image.wanted_by}};
    });
    const ordered_json installed =
        mapped(answer.packages.installed, [](const PackageReason& reason) -> ordered_json {
            return {{"nevra", reason.package.nevra.text()},
                    {"repository", reason.package.repository},
                    {"why", reason.package.why.text()},
                    {"origin", reason.origin},
                    {"chain", reason.chain},
                    {"required_by", reason.required_by}};
        });
    const ordered_json document = {{"format", "edgegpu-why/1"},
                                   {"package", command.package},
                                   {"installed", installed},
                                   {"kept_out", answer.packages.kept_out},
                                   {"images", images}};
    return document_text(document);
}

}  // namespace

int run_why(const GlobalOptions& global, const WhyCommand& command) {
    // The progress of the resolve is not shown, but warnings and notes about the blueprint are.
    const Blueprint blueprint = read_checked_blueprint(global, command.blueprint, command.inputs);
    ConsoleOutput output = console_output(global);
    {
        Console notes(output);
        show_remarks(blueprint, notes);
    }
    output.quiet = true;
    Console console(std::move(output));
    Context ctx = context_with_cache(global, console, command.cache_dir);
    ctx.offline = command.offline;
    const CacheLock cache_lock(ctx, CacheUse::resolve);
    ctx.slot = cache_lock.slot();
    Stages stages(ctx, blueprint.path.string());
    const WhyAnswer answer = stages.run([&] {
        stages.begin_quietly("resolve", "resolving");
        WhyAnswer found = answer_for(ctx, blueprint, command);
        stages.end("");
        return found;
    });
    print_result(global.json             ? answer_json(command, answer)
                 : answer.images.empty() ? answer_text(command, answer.packages)
                                         : images_text(answer.images));
    return 0;
}

}  // namespace edgegpu
