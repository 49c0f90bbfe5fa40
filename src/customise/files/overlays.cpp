#include "customise/files/overlays.hpp"

#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "blueprint/sources/overlay_checker.hpp"
#include "blueprint/sources/overlay_source.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "customise/files/package_owner.hpp"
#include "image/account_files.hpp"
#include "image/content.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/path_glob.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// A rule with its pattern compiled, and names of owners replaced by the image's numbers.
struct KnownRule {
    PathGlob glob;
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> gid;
    std::optional<unsigned> mode;
    const OverlayRule* said = nullptr;
};

/// Owner and mode of one path according to the overlay and its rules.
struct Attributes {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::optional<unsigned> mode;
    bool owner_said = false;
};

std::vector<KnownRule> know_rules(const OverlayRequest& overlay, const Tree& tree) {
    std::vector<KnownRule> rules;
    for (const OverlayRule& rule : overlay.rules) {
        KnownRule known{PathGlob(rule.path), {}, {}, rule.mode, &rule};
        const Owner owner = find_owner(tree, rule.location.text(), rule.user.value_or("root"),
                                       rule.group.value_or("root"));
        if (rule.user) {
            known.uid = owner.uid;
        }
        if (rule.group) {
            known.gid = owner.gid;
        }
        rules.push_back(std::move(known));
    }
    return rules;
}

Attributes attributes_of(const std::vector<KnownRule>& rules, const Owner& owner,
                         const std::string& path) {
    Attributes found{owner.uid, owner.gid, {}};
    for (const KnownRule& rule : rules) {
        if (rule.glob.matches(path)) {
            found.uid = rule.uid.value_or(found.uid);
            found.gid = rule.gid.value_or(found.gid);
            found.mode = rule.mode ? rule.mode : found.mode;
            found.owner_said = found.owner_said || rule.uid || rule.gid;
        }
    }
    return found;
}

/// Copies one overlay into the tree.
class Placement {
public:
    Placement(const Context& ctx, const OverlayRequest& overlay, FileModes& modes, Tree& tree)
        : ctx_(ctx),
          overlay_(overlay),
          modes_(modes),
          tree_(tree),
          owner_(find_owner(tree, overlay.location.text(), overlay.user, overlay.group)),
          rules_(know_rules(overlay, tree)) {}

    void put(const OverlayMember& member);
    /// Throws if the pattern of a rule with a label matches a path that is not in the overlay: the
    /// policy would label that as well.
    void check_labels() const;
    /// Paths in the tree of the overlay's members → the user's file.
    [[nodiscard]] std::map<std::string, std::string>& placed() { return placed_; }

private:
    Entry make(const OverlayMember& member, const Attributes& attributes);
    [[nodiscard]] Entry content_of(const OverlayMember& member) const;
    /// Whether the member replaces `old`, of which `entry` gets executable bits unless a mode is
    /// said, or, if it is the same file, all that no rule says; throws if it must not.
    bool replaces(const OverlayMember& member, const std::string& real, const Entry& old,
                  Entry& entry, const Attributes& attributes) const;
    /// Set-id bits and capabilities that the entry has not got.
    void warn_of_privileges(const OverlayMember& member, const Entry* old, const Entry& entry,
                            const Attributes& attributes) const;

    const Context& ctx_;
    const OverlayRequest& overlay_;
    FileModes& modes_;
    Tree& tree_;
    Owner owner_;
    std::vector<KnownRule> rules_;
    /// files so far by their path, for hard links to them
    std::map<std::string, Entry> files_;
    std::map<std::string, std::string> placed_;
};

Entry Placement::content_of(const OverlayMember& member) const {
    if (!member.linked.empty()) {
        return files_.at(member.linked);
    }
    return member.content.empty() ? make_stored_entry(member.stored, 0)
                                  : make_file_entry_from(ctx_, member.content, 0);
}

Entry Placement::make(const OverlayMember& member, const Attributes& attributes) {
    Entry entry;
    if (member.type == MemberType::directory) {
        entry.type = EntryType::directory;
        entry.mode = attributes.mode.value_or(member.archived_mode.value_or(0755));
    } else if (member.type == MemberType::symlink) {
        entry = link_to(member.target);
    } else {
        entry = content_of(member);
    }
    entry.uid = attributes.uid;
    entry.gid = attributes.gid;
    if (member.type == MemberType::file) {
        modes_.apply(
            member.path,
            {attributes.mode, attributes.owner_said, member.archived_mode, member.executable},
            entry);
    }
    return entry;
}

bool Placement::replaces(const OverlayMember& member, const std::string& real, const Entry& old,
                         Entry& entry, const Attributes& attributes) const {
    const bool directory = entry.type == EntryType::directory;
    if (directory && old.type == EntryType::directory) {
        return overlay_.replace;
    }
    const auto in_image = [&](std::string_view what) {
        const std::string package = package_of(ctx_, tree_, real);
        return error_at(overlay_.location, "overlay {}: {} is already in the image{}{}",
                        overlay_.source.string(), member.path, what,
                        package.empty() ? "" : ": it belongs to " + package);
    };
    if (directory || old.type == EntryType::directory) {
        throw in_image(directory ? " as a file or link" : " as a directory");
    }
    const bool same =
        old.type == entry.type && old.digest == entry.digest && old.target == entry.target;
    if (!overlay_.replace && !same) {
        throw in_image("").hinted("set 'replace = true' on the overlay to replace it");
    }
    if (entry.type != EntryType::file || old.type != EntryType::file) {
        return true;
    }
    const bool stays = same && !overlay_.replace;
    if (!attributes.mode) {
        // A replaced program stays executable.
        entry.mode = stays ? old.mode : entry.mode | (old.mode & 0111U);
        entry.capabilities = stays ? old.capabilities : entry.capabilities;
    }
    if (stays && !attributes.owner_said) {
        entry.uid = old.uid;
        entry.gid = old.gid;
    }
    return true;
}

void Placement::warn_of_privileges(const OverlayMember& member, const Entry* old,
                                   const Entry& entry, const Attributes& attributes) const {
    constexpr unsigned set_id = 06000;
    const auto has_some = [](const Entry& file) {
        return (file.mode & set_id) != 0 || !file.capabilities.empty();
    };
    if (attributes.mode || has_some(entry)) {
        return;
    }
    if (member.privileged) {
        ctx_.console->warn_of(
            "setuid, setgid and capabilities of overlay files are dropped unless a rule sets "
            "their mode",
            member.path);
    } else if (old != nullptr && entry.type == EntryType::file && has_some(*old)) {
        ctx_.console->warn_of(
            "it replaces a program with set-id bits or capabilities, and has none unless a rule "
            "sets its mode",
            member.path);
    }
}

void Placement::put(const OverlayMember& member) {
    ctx_.check_cancelled();
    const Attributes attributes = attributes_of(rules_, owner_, member.path);
    Entry entry = make(member, attributes);
    if (entry.type == EntryType::file) {
        files_.emplace(member.path, entry);
    }
    const bool directory = entry.type == EntryType::directory;
    const std::string real = resolve_in_tree(tree_, member.path, directory);
    const std::string reason = unfit_member_reason(real, member.type);
    if (!reason.empty()) {  // a link of the image leads there
        throw error_at(overlay_.location, "an image cannot carry {} of overlay {}: {}", real,
                       overlay_.source.string(), reason)
            .hinted(unfit_member_hint(real));
    }
    const auto old = tree_.entries.find(real);
    const bool earlier = placed_.contains(real);
    const bool existed = old != tree_.entries.end();
    if (!existed || replaces(member, real, old->second, entry, attributes)) {
        warn_of_privileges(member, existed ? &old->second : nullptr, entry, attributes);
        put_entry(tree_, real, entry);
        if (!existed || !directory || earlier) {
            const std::string source = overlay_.source.string();
            placed_[real] = member.archived_mode ? fmt::format("{} ({})", source, member.name)
                                                 : fmt::format("{}/{}", source, member.name);
        }
    }
}

void Placement::check_labels() const {
    for (const KnownRule& rule : rules_) {
        if (rule.said->label.empty()) {
            continue;
        }
        for (const auto& [path, entry] : tree_.entries) {
            if (rule.glob.matches(path) && !placed_.contains(path)) {
                throw error_at(
                    rule.said->location,
                    "the label {} of \"{}\" would also apply to {}, which is not part of "
                    "this overlay",
                    rule.said->label, rule.said->path, path)
                    .hinted("use a pattern that matches only paths of the overlay");
            }
        }
    }
}

}  // namespace

void require_stored(bool stored, const fs::path& source) {
    if (!stored) {
        throw error("{}: the build took no copy of it", source.string());
    }
}

namespace {

std::map<std::string, std::string> add_overlay(const Context& ctx, const OverlayRequest& overlay,
                                               FileModes& modes, Tree& tree) {
    require_stored(overlay.stored != nullptr, overlay.source);
    Placement placement(ctx, overlay, modes, tree);
    const fs::path scratch = ctx.work() / fmt::format("overlay-{}", ::getpid());
    make_directories(scratch);
    visit_overlay(overlay, scratch, [&](const OverlayMember& member) { placement.put(member); });
    remove_tree(scratch);
    placement.check_labels();
    return std::move(placement.placed());
}

}  // namespace

std::map<std::string, std::string> add_overlays(const Context& ctx,
                                                const std::vector<OverlayRequest>& overlays,
                                                FileModes& modes, Tree& tree) {
    std::map<std::string, std::string> placed;
    for (const OverlayRequest& overlay : overlays) {
        // A later overlay may replace files of an earlier one.
        std::map<std::string, std::string> later = add_overlay(ctx, overlay, modes, tree);
        later.merge(placed);
        placed = std::move(later);
    }
    return placed;
}

}  // namespace edgegpu
