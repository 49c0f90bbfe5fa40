#include "compose/composition_cache.hpp"

#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "image/kept_entries.hpp"
#include "image/overlay.hpp"
#include "rootfs/shims.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

fs::path place_of(const Context& ctx, const Tree& tree) {
    return ctx.cache / "composed" / tree.inputs_digest;
}

/// Everything of the tree that goes into a commit, but for labels.
std::string seal_of(const Tree& tree) {
    Sha256 digest;
    for (const auto& [path, entry] : tree.entries) {
        digest.update_field(path);
        digest.update_field(fmt::format("{} {:o} {} {} {}", static_cast<int>(entry.type),
                                        entry.mode, entry.uid, entry.gid, entry.digest));
        digest.update_field(entry.target);
        digest.update_field(entry.capabilities);
    }
    return digest.hex();
}

/// The records beside the layer.
struct Records {
    std::string seal;
    std::vector<std::string> kernel_arguments;
    std::vector<std::vector<std::string>> policy_calls;
};

/// First the seal and the kernel arguments, each as one call, then the policy calls.
std::string format_records(const Tree& tree) {
    return format_calls({{seal_of(tree)}, tree.kernel_arguments}) + format_calls(tree.policy_calls);
}

Records parse_records(const std::string& text) {
    std::vector<std::vector<std::string>> calls = parse_calls(text);
    if (calls.size() < 2 || calls[0].size() != 1) {
        throw Error("the records of a composition are damaged");
    }
    return {calls[0][0], calls[1], {calls.begin() + 2, calls.end()}};
}

}  // namespace

bool restore_composition(const Context& ctx, Tree& tree) {
    const fs::path place = place_of(ctx, tree);
    const std::optional<std::string> text = read_sealed(place / "records");
    if (!text) {
        return false;
    }
    const Entries before = tree.entries;
    try {
        Records records = parse_records(*text);
        copy_layer(ctx, place / "upper", tree.upper);
        sync_tree(ctx, tree);
        if (seal_of(tree) == records.seal) {
            tree.kernel_arguments = std::move(records.kernel_arguments);
            tree.policy_calls = std::move(records.policy_calls);
            return true;
        }
    } catch (const Error& problem) {
        if (problem.kind() == ErrorKind::interrupted) {
            throw;
        }
    }
    tree.entries = before;
    remove_tree(tree.upper);
    return false;
}

void store_composition(const Context& ctx, const Tree& tree) {
    const fs::path place = place_of(ctx, tree);
    const fs::path temporary =
        place.parent_path() / fmt::format(".new-{}", place.filename().string());
    remove_tree(temporary);
    make_directories(temporary);
    copy_layer(ctx, tree.upper, temporary / "upper");
    write_sealed(temporary / "records", format_records(tree));
    remove_tree(place);
    if (::rename(temporary.c_str(), place.c_str()) != 0) {
        throw errno_error(place.string(), errno);
    }
}

}  // namespace edgegpu
