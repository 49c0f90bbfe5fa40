#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/cache_contents.hpp"
#include "commands/commands.hpp"
#include "execution/interrupt.hpp"
#include "sandbox/user_namespace.hpp"
#include "support/error.hpp"
#include "support/text/quantity.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

struct CacheReport {
    std::filesystem::path cache;
    std::vector<CacheSummary> kinds;
    std::uint64_t size = 0;
    bool pruned = false;
    bool dry_run = false;
    std::vector<CachedItem> removed;
};

/// docs/schemas/cache.json
std::string cache_json(const CacheReport& report) {
    using nlohmann::ordered_json;
    ordered_json kinds = ordered_json::array();
    for (const CacheSummary& kind : report.kinds) {
        ordered_json one = {{"kind", kind.kind},
                            {"description", kind.what},
                            {"entries", kind.items},
                            {"bytes", kind.size}};
        if (kind.last_use) {
            one["last_use"] = iso_time(*kind.last_use);
        }
        kinds.push_back(std::move(one));
    }
    ordered_json document = {{"format", "edgegpu-cache/1"},
                             {"cache", report.cache.string()},
                             {"bytes", report.size},
                             {"kinds", std::move(kinds)}};
    if (report.pruned) {
        ordered_json removed = ordered_json::array();
        for (const CacheSummary& kind : summarise(report.removed)) {
            if (kind.items > 0) {
                removed.push_back(
                    {{"kind", kind.kind}, {"entries", kind.items}, {"bytes", kind.size}});
            }
        }
        document["removed"] = {{"dry_run", report.dry_run},
                               {"entries", report.removed.size()},
                               {"bytes", total_size(report.removed)},
                               {"kinds", std::move(removed)}};
    }
    return document_text(document);
}

std::string cache_row(std::string_view kind, std::string_view entries, std::string_view size,
                      std::string_view last_use, std::string_view what) {
    return fmt::format("{:<10} {:>8} {:>9}  {:<16}  {}\n", kind, entries, size, last_use, what);
}

std::string removed_text(const std::vector<CachedItem>& removed, bool dry_run) {
    return fmt::format("{}: {} {}, {}", dry_run ? "to be removed" : "removed", removed.size(),
                       removed.size() == 1 ? "entry" : "entries", human_size(total_size(removed)));
}

std::string cache_text(const CacheReport& report) {
    std::string text = printable_line(report.cache.string()) + ":\n\n";
    text += cache_row("kind", "entries", "size", "last use (UTC)", "");
    std::size_t items = 0;
    for (const CacheSummary& kind : report.kinds) {
        items += kind.items;
        text += cache_row(kind.kind, std::to_string(kind.items), human_size(kind.size),
                          kind.last_use ? minute_text(*kind.last_use) : "", kind.what);
    }
    text += cache_row("all", std::to_string(items), human_size(report.size), "", "");
    if (report.pruned) {
        text += '\n' + removed_text(report.removed, report.dry_run) + '\n';
    }
    return text;
}

Context cache_context(const std::filesystem::path& cache, Console& console) {
    Context ctx;
    ctx.cache = cache;
    ctx.console = &console;
    ctx.cancelled = &interrupted();
    return ctx;
}

PruneLimits limits_of(const CacheCommand& command) {
    PruneLimits limits;
    if (!command.max_size.empty()) {
        limits.max_size = parse_size(command.max_size);
    }
    if (!command.unused_for.empty()) {
        limits.unused_for = parse_duration(command.unused_for);
    }
    limits.dry_run = command.dry_run;
    const bool any = limits.max_size || limits.unused_for;
    if (command.action.empty() && (any || limits.dry_run)) {
        throw Error(ErrorKind::usage, "edgegpu cache: limits and --dry-run are for prune only")
            .hinted("run edgegpu cache prune with these options");
    }
    if (!command.action.empty() && !any) {
        throw Error(ErrorKind::usage, "edgegpu cache prune: no limit is given")
            .hinted("give --max-size, such as 20G, or --unused-for, such as 30d, or both");
    }
    return limits;
}

}  // namespace

int run_cache(const GlobalOptions& global, const CacheCommand& command) {
    const PruneLimits limits = limits_of(command);
    const std::filesystem::path cache = cache_directory(
        command.cache_dir, command.action.empty() ? CacheAccess::read : CacheAccess::write);
    // Much of it belongs to the owners of images.
    enter_build_namespace();
    Console console(standard_error(global.color, global.quiet, global.progress_fd));
    const Context ctx = cache_context(cache, console);
    CacheReport report;
    report.cache = ctx.cache;
    if (!command.action.empty()) {
        report.pruned = true;
        report.dry_run = limits.dry_run;
        report.removed = prune_cache(ctx, limits);
    }
    const std::vector<CachedItem> items = list_cache(ctx);
    report.kinds = summarise(items);
    report.size = total_size(items);
    print_result(global.json ? cache_json(report) : cache_text(report));
    return 0;
}

void prune_after_build(const Context& ctx, const std::string& max_size) {
    if (max_size.empty()) {
        return;
    }
    PruneLimits limits;
    limits.max_size = parse_size(max_size);
    const std::vector<CachedItem> removed = prune_cache(ctx, limits);
    if (!removed.empty()) {
        ctx.console->note("cache: " + removed_text(removed, false));
    }
}

}  // namespace edgegpu
