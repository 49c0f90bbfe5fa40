#include "publish/deltas.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "delta/delta_check.hpp"
#include "repository/versions.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

/// Of what a client gets without it, what a delta may have at most.
constexpr std::uint64_t percent_worth_it = 95;
/// Clients before libostree 2023.4 read no larger ones.
constexpr std::uint64_t largest_superblock = 10ULL << 20U;
/// "12345678" is the beginning of a checksum, "12" a number of versions.
constexpr std::size_t digits_of_number = 3;

Fd open_delta(const Repo::Impl& target, const std::string& path) {
    return open_at(target.directory.get(), path, O_RDONLY | O_DIRECTORY,
                   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/// Old commits of the deltas to `commit` that the target has; empty for one from nothing.
std::set<std::string> present_sources(const Repo::Impl& target, const std::string& commit) {
    GlibFailure failure;
    GPtrArray* list = nullptr;
    if (ostree_repo_list_static_delta_names(target.ostree.get(), &list, nullptr, failure.out()) ==
        FALSE) {
        throw failure.to_error(target.path.string(), "cannot list the deltas");
    }
    const Handle<GPtrArray, g_ptr_array_unref> names(list);
    std::set<std::string> sources;
    for (guint i = 0; i < names->len; ++i) {
        const std::string name = static_cast<const char*>(names->pdata[i]);
        if (name.ends_with(commit)) {
            sources.insert(
                name.substr(0, name.find('-') == std::string::npos ? 0 : name.find('-')));
        }
    }
    return sources;
}

/// Whether the summary, or the index of deltas to `to`, has `text`: the name of a delta, "FROM-TO",
/// or the digest of its superblock. Clients that have read it take no other superblock.
bool is_in_summary(const Repo::Impl& target, const std::string& to, const std::string& text) {
    return content_of(target, "summary").find(text) != std::string::npos ||
           content_of(target, index_path(to)).find(text) != std::string::npos;
}

/// What is there of a delta; one that is damaged is removed.
std::optional<PublishedDelta> keep_delta(const Context& ctx, const Repo::Impl& target,
                                         const std::string& from, const CommitView& to) {
    const std::string path = delta_path(from, to.info().checksum);
    const Fd directory = open_delta(target, path);
    if (!directory || is_signed_format(directory)) {
        return std::nullopt;
    }
    std::optional<FoundDelta> found = find_static_delta(directory, from, to);
    if (!found) {
        ctx.console->warn(
            fmt::format("{}: the delta to {} is damaged, and is removed: devices could not use it",
                        target.shown(path), to.info().checksum));
        leave_summary_marker(target, to.info().checksum);
        remove_delta(target, path);
        return std::nullopt;
    }
    if (!is_in_summary(target, to.info().checksum, found->digest)) {
        // Another program has made it, and no summary.
        leave_summary_marker(target, to.info().checksum);
    }
    return PublishedDelta{from, found->delta, std::move(found->renewed), false, false};
}

/// Gives a delta in `made` its name, in the place of what is there and is none.
void move_delta(const Repo::Impl& target, const ScratchDirectory& made, const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string parent = path.substr(0, slash);
    target.make_directory("deltas");
    target.make_directory(parent);
    const Fd place = target.open_directory(parent);
    remove_delta(target, path);
    // Whoever publishes the same commit for another ref makes the same delta.
    const bool moved =
        (!target.fsync || ::fsync(made.get()) == 0) &&
        (made.move_to(place, path.substr(slash + 1)) || errno == ENOTEMPTY || errno == EEXIST) &&
        (!target.fsync || ::fsync(place.get()) == 0);
    if (!moved) {
        throw write_error(target.path.string(), target.shown(path), errno);
    }
}

PublishedDelta make_delta(const Context& ctx, const Repo::Impl& target, const CommitView& from,
                          const CommitView& to, std::uint64_t largest_compared) {
    const ScratchDirectory directory(target, delta_suffix);
    const StaticDelta delta =
        write_static_delta(ctx, from, to, directory.fd(), {largest_compared, target.fsync});
    const std::string& checksum = to.info().checksum;
    PublishedDelta made{from.info().checksum, delta, nullptr, false, false};
    made.useless = (delta.bytes + delta.fallback_bytes) * 100 > delta.stored * percent_worth_it ||
                   delta.superblock_bytes > largest_superblock;
    if (made.useless) {
        return made;
    }
    // The summary names all deltas.
    leave_summary_marker(target, checksum);
    if (is_in_summary(target, checksum, made.from + '-' + checksum)) {
        // To be written when no summary names the old one any more.
        made.renewed = load_superblock(directory.fd());
        ::unlinkat(directory.get(), superblock_name, 0);
    }
    move_delta(target, directory, delta_path(made.from, checksum));
    made.made = true;
    return made;
}

std::optional<unsigned> number_in(const std::string& text) {
    unsigned number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || end != text.data() + text.size() || number == 0 ||
        text.size() > digits_of_number) {
        return std::nullopt;
    }
    return number;
}

/// Devices of the fleet without a delta, as the target does not have what they run.
void warn_of_unknown(const Context& ctx, const FleetVersions& fleet, const RepositoryView& target) {
    const std::vector<std::string> known = target.commits();
    for (const auto& [commit, devices] : fleet.devices) {
        if (fleet.is_worth_a_delta(commit) && std::ranges::find(known, commit) == known.end()) {
            ctx.console->warn(
                fmt::format("{}: {} of {} devices run commit {}, which {} does not have: no delta "
                            "can be made from it, and they download objects",
                            fleet.origin, devices, fleet.all(), commit, target.path()));
        }
    }
}

/// The newest `count` versions of the ref that devices may have, other than `commit`.
std::vector<CommitView> versions_before(const RepositoryView& view, const HeldRef& ref,
                                        const std::string& commit, std::size_t count) {
    const std::vector<CommitView> commits = complete_commits(view);
    std::vector<CommitView> versions;
    for (const CommitView* version : versions_of_ref(ref.name, ref.head, commits)) {
        const std::string& checksum = version->info().checksum;
        if (checksum != commit && versions.size() < count) {
            versions.push_back(view.commit_at(checksum, checksum));
        }
    }
    return versions;
}

}  // namespace

void remove_delta(const Repo::Impl& target, const std::string& path) {
    const std::size_t slash = path.rfind('/');
    ::unlinkat(target.directory.get(), fmt::format("{}/{}", path, superblock_name).c_str(), 0);
    remove_at(target.open_directory(path.substr(0, slash)).get(), path.substr(slash + 1),
              target.shown(path));
}

std::vector<CommitView> delta_sources(const Context& ctx, const Repo& target,
                                      const DeltaRequest& request, const std::string& commit) {
    const Repo::Impl& impl = target.impl();
    return delta_sources(ctx, impl.view(), {impl.ref, impl.ref_at_start}, request, commit);
}

std::vector<CommitView> delta_sources(const Context& ctx, const RepositoryView& view,
                                      const HeldRef& ref, const DeltaRequest& request,
                                      const std::string& commit) {
    std::vector<CommitView> sources;
    const auto add = [&](CommitView source) {
        if (source.info().checksum != commit &&
            std::ranges::none_of(sources, [&](const CommitView& known) {
                return known.info().checksum == source.info().checksum;
            })) {
            sources.push_back(std::move(source));
        }
    };
    for (const std::string& name : request.from) {
        if (const std::optional<unsigned> count = number_in(name)) {
            std::vector<CommitView> versions = versions_before(view, ref, commit, *count);
            if (versions.size() < *count) {
                // Pruned, or never published: whoever asks for five counts on five.
                ctx.console->note(
                    fmt::format("{}: --delta-from {}, and the repository has {} of the versions "
                                "before: devices with older ones download objects",
                                ref.name, *count, versions.size()));
            }
            for (CommitView& version : versions) {
                add(std::move(version));
            }
        } else {
            add(view.open(name));
        }
    }
    if (request.fleet) {
        warn_of_unknown(ctx, *request.fleet, view);
        for (CommitView& version : versions_before(view, ref, commit, SIZE_MAX)) {
            if (request.fleet->is_worth_a_delta(version.info().checksum)) {
                add(std::move(version));
            }
        }
    }
    return sources;
}

void require_delta_sources(const RepositoryView& target, const std::vector<std::string>& wanted) {
    for (const std::string& name : wanted) {
        if (!number_in(name)) {
            static_cast<void>(target.open(name));
        }
    }
}

std::vector<PublishedDelta> publish_deltas(const Context& ctx, const Repo& target,
                                           const std::string& commit,
                                           const std::vector<CommitView>& sources,
                                           std::uint64_t largest_compared) {
    const Repo::Impl& impl = target.impl();
    const CommitView to = impl.view().commit_at(commit, commit);
    std::vector<PublishedDelta> deltas;
    for (const std::string& from : present_sources(impl, commit)) {
        if (std::optional<PublishedDelta> kept = keep_delta(ctx, impl, from, to)) {
            deltas.push_back(std::move(*kept));
        }
    }
    for (const CommitView& from : sources) {
        const Fd present = open_delta(impl, delta_path(from.info().checksum, commit));
        if (std::ranges::find(deltas, from.info().checksum, &PublishedDelta::from) ==
                deltas.end() &&
            !(present && is_signed_format(present))) {
            deltas.push_back(make_delta(ctx, impl, from, to, largest_compared));
        }
    }
    return deltas;
}

bool withdraw_outdated(const Repo& target, const std::string& commit,
                       const std::vector<PublishedDelta>& deltas) {
    bool some = false;
    for (const PublishedDelta& delta : deltas) {
        if (delta.renewed) {
            leave_summary_marker(target.impl(), commit);
            const Fd directory = open_delta(target.impl(), delta_path(delta.from, commit));
            ::unlinkat(directory.get(), superblock_name, 0);
            some = true;
        }
    }
    return some;
}

void write_renewed(const Repo& target, const std::string& commit,
                   const std::vector<PublishedDelta>& deltas) {
    const Repo::Impl& impl = target.impl();
    for (const PublishedDelta& delta : deltas) {
        if (!delta.renewed) {
            continue;
        }
        leave_summary_marker(impl, commit);
        const std::string path = delta_path(delta.from, commit);
        if (!try_write_file_at(open_delta(impl, path).get(), superblock_name,
                               bytes_of(delta.renewed.get()), 0644, impl.fsync)) {
            throw write_error(impl.path.string(), impl.shown(path), errno);
        }
    }
}

}  // namespace edgegpu
